"""The settings: one type, read from ``rehi.toml`` and the environment, and the only reader of either."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from rehi import __version__
from rehi.errors import SettingsError

_STRICT = ConfigDict(extra="forbid", frozen=True)


class FetchSettings(BaseModel):
    """How we visit."""

    model_config = _STRICT

    user_agent: str = Field(
        f"rehi/{__version__} (web archive; fetch.user_agent says who runs it)",
        description="Who we say we are. Name yourself and a page or address at which you can be reached.",
    )
    delay: float = Field(
        1.0, ge=0, description="Seconds between two requests to one host; a longer Crawl-delay is obeyed."
    )
    max_delay: float = Field(60.0, ge=0, description="No Crawl-delay longer than this is obeyed; it is capped.")
    connections: int = Field(64, ge=1, le=1000, description="Hosts visited at the same time.")
    timeout: float = Field(60.0, gt=0, description="Seconds that one visit may take in all.")
    connect_timeout: float = Field(15.0, gt=0, description="Seconds to wait for a connection.")
    stall_timeout: float = Field(
        20.0, gt=0, description="Seconds without enough bytes (32 a second) after which a visit is given up."
    )
    max_bytes: int = Field(
        100_000_000, gt=0, description="The largest body, decoded; a larger one is aborted on the wire."
    )
    max_redirects: int = Field(10, ge=0, description="Redirects followed one after another.")
    robots_ttl: float = Field(86_400.0, gt=0, description="Seconds for which a robots.txt is remembered.")
    revisit_after: float = Field(30 * 86_400.0, gt=0, description="Seconds until a page is due again.")
    retry_after: float = Field(
        3_600.0, gt=0, description="Seconds until a failed visit is tried again; doubled after each failure."
    )
    ports: list[int] = Field([80, 443, 8080, 8443], description="Ports that may be visited.")
    allow_private: list[str] = Field([], description="Private networks that may be visited, as in `127.0.0.0/8`.")
    resolve: list[str] = Field(
        [], description="Where to connect instead, as in `*.rehemaa.test=127.0.0.1:8600`; the request stays the same."
    )


class ArchiveSettings(BaseModel):
    """How bytes are kept."""

    model_config = _STRICT

    file_bytes: int = Field(1_000_000_000, gt=0, description="A WARC file is closed and the next begun at this size.")


class WorkSettings(BaseModel):
    """What reading a document may cost."""

    model_config = _STRICT

    workers: int = Field(0, ge=0, description="Processes that read documents; 0 for as many as there are processors.")
    timeout: float = Field(60.0, gt=0, description="Seconds that one document may take.")
    memory: int = Field(2_000_000_000, gt=0, description="Bytes of memory that a reading process may use.")
    max_text: int = Field(5_000_000, gt=0, description="Characters of text that are read; the rest is left.")


class QuerySettings(BaseModel):
    """What a query may cost."""

    model_config = _STRICT

    timeout: float = Field(30.0, gt=0, description="Seconds after which a query is ended.")
    memory: int = Field(2_000_000_000, gt=0, description="Bytes of memory after which a query is ended.")
    workers: int = Field(2, ge=1, description="Queries answered at the same time.")


class ServeSettings(BaseModel):
    """Where we answer."""

    model_config = _STRICT

    host: str = Field("127.0.0.1", description="The address to listen on. On any but loopback, changes need `token`.")
    port: int = Field(8666, ge=0, le=65535, description="The port to listen on; 0 takes a free one.")
    token: str = Field("", repr=False, description="The bearer token for everything that changes something.")
    max_upload: int = Field(4_000_000_000, gt=0, description="The largest log that can be uploaded, in bytes.")


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(
        env_prefix="REHI_", env_nested_delimiter="__", extra="forbid", frozen=True, toml_file="rehi.toml"
    )

    data: Path = Field(Path("rehi-data"), description="The folder for everything that is kept.")
    base: str = Field("http://rehi.localhost", description="The public base under which identifiers are minted.")
    catalogue: str = Field(
        "", description="`sqlite:///path` or `postgresql://…`; by default SQLite in the data folder."
    )
    graph: str = Field("", description="`oxigraph:///path`; by default in the data folder.")
    executor: str = Field("local", description="Where documents are read: `local`.")
    fetch: FetchSettings = FetchSettings()
    archive: ArchiveSettings = ArchiveSettings()
    work: WorkSettings = WorkSettings()
    query: QuerySettings = QuerySettings()
    serve: ServeSettings = ServeSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, and the environment over the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def catalogue_uri(self) -> str:
        """The catalogue's address, the default filled in."""
        return self.catalogue or f"sqlite:///{self.data.resolve()}/catalogue.db"

    @property
    def graph_uri(self) -> str:
        """The graph's address, the default filled in."""
        return self.graph or f"oxigraph://{self.data.resolve()}/graph"


def load_settings(config: Path | None = None, **given: Any) -> Settings:
    """Read the settings; ``given`` wins over the environment, and that over the file."""
    if config is not None and not config.is_file():
        raise SettingsError(f"there is no settings file at {config}")
    file = config or Path(os.environ.get("REHI_CONFIG", "rehi.toml"))

    class _Located(Settings):
        model_config = SettingsConfigDict(toml_file=file)

    try:
        return _Located(**given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"setting {where!r}: {first['msg'].lower()}; `rehi settings` lists all settings") from error
    except ValueError as error:
        raise SettingsError(f"{file}: {error}") from error


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting: its dotted name, its value, its default and its meaning."""

    name: str
    value: object
    default: object
    help: str


def describe_settings(settings: BaseModel, *, prefix: str = "") -> list[SettingRow]:
    """Every setting in order; secrets are not shown."""
    rows: list[SettingRow] = []
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            rows += describe_settings(value, prefix=f"{prefix}{name}.")
            continue
        shown = value if field.repr else ("(set)" if value else "")
        rows.append(SettingRow(f"{prefix}{name}", shown, field.default, field.description or ""))
    return rows
