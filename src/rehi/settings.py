"""The settings: one type, read from ``rehi.toml`` and the environment, and the only reader of either."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from rehi import __version__
from rehi.engine_address import hide_secrets, secrets_in
from rehi.errors import SettingsError

_STRICT = ConfigDict(extra="forbid", frozen=True)
_HOST_PATTERN = re.compile(r"\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]")
_KEY = re.compile(r"^(?:AWS|AZURE|GOOGLE|PG).*(?:SECRET|TOKEN|PASSWORD|KEY)|^PGPASSWORD$")


class HostSettings(BaseModel):
    """What is different for the hosts that match; `[[fetch.hosts]]` in the file, the first that matches holds."""

    model_config = _STRICT

    match: str = Field(description="A host's name, or with `*.` in front all names below it; `*` for all.")
    delay: float | None = Field(None, ge=0, description="Seconds between two requests, instead of `fetch.delay`.")
    connections: int = Field(
        1,
        ge=1,
        le=32,
        description="Requests to the host at the same time; with more than 1, by HTTP/2 where the host knows it.",
    )
    hours: str = Field("", description="When it may be visited, in `time_zone`, as in `20:00-06:00`; empty for always.")
    leave_alone: bool = Field(False, description="Never visit it.")
    proxy: str = Field(
        "",
        repr=False,
        description="As in `socks5h://name:password@proxy:1080` or `http://proxy:3128`, always with its port.",
    )
    headers: dict[str, str] = Field({}, repr=False, description="Sent with each request, as an API key; never shown.")
    verify_tls: bool = Field(True, description="Whether it must prove who it is.")

    @field_validator("match")
    @classmethod
    def _spell(cls, match: str) -> str:
        """Return the pattern in the spelling that hosts have when they are visited."""
        from ada_url import idna

        text = idna.encode(match.strip().lower()).decode("ascii")
        if _HOST_PATTERN.fullmatch(text) is None:
            raise ValueError(
                f"{match[:80]!r} is not a host; write www.example.ee, *.example.ee for all names below it, or *"
            )
        return text.removesuffix(".")

    def matches(self, host: str) -> bool:
        """Whether it is meant for this host, whose name is in lower case and punycode."""
        return host.endswith(self.match[1:]) if self.match.startswith("*") else host == self.match

    @property
    def shown(self) -> dict[str, object]:
        """What may be shown of it: all that was set, but no secrets."""
        fields = type(self).model_fields
        return {
            name: getattr(self, name) if fields[name].repr else "(set)"
            for name in fields
            if name in self.model_fields_set
        }


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
    slow_factor: float = Field(
        5.0, ge=0, description="After a slow answer the pause is at least this many times as long as the answer took."
    )
    connections: int = Field(128, ge=1, le=1000, description="Requests at the same time, to all hosts together.")
    by_address: bool = Field(False, description="Whether hosts at one address share one pace.")
    cdns: list[str] = Field(
        [], description="Networks of CDNs, as in `192.0.2.0/24`: hosts there have a pace of their own nevertheless."
    )
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
    robots_unreachable: float = Field(
        30 * 86_400.0,
        gt=0,
        description="Seconds for which a host waits whose robots.txt can't be had (no answer, 429 or 5xx); after that its "
        "last known rules hold, or none.",
    )
    retry_after: float = Field(
        3_600.0, gt=0, description="Seconds until a failed visit is tried again; doubled after each failure."
    )
    soft_errors: bool = Field(
        True, description="Whether hosts are asked for a page that can't exist, to know their error pages."
    )
    ports: list[int] = Field([80, 443, 8080, 8443], description="Ports that may be visited.")
    allow_private: list[str] = Field([], description="Private networks that may be visited, as in `127.0.0.0/8`.")
    resolve: list[str] = Field(
        [], description="Where to connect instead, as in `*.rehemaa.test=127.0.0.1:8600`; the request stays the same."
    )
    hosts: list[HostSettings] = Field([], description="What is different for some hosts, as `[[fetch.hosts]]`.")

    def for_host(self, host: str) -> HostSettings | None:
        """Return what is different for one host, by the first pattern that matches; None if nothing is."""
        name = host.lower().rstrip(".")
        return next((host_settings for host_settings in self.hosts if host_settings.matches(name)), None)


class RevisitSettings(BaseModel):
    """When we come back."""

    model_config = _STRICT

    policy: str = Field(
        "adaptive",
        description="For sources that have none of their own: `adaptive`, `fixed 0 1 1 * *` (a cron expression), "
        "`odarchive` or `latency 15m`.",
    )
    shortest: float = Field(900.0, gt=0, description="Seconds before which no page is due again.")
    longest: float = Field(30 * 86_400.0, gt=0, description="Seconds after which every page is due again.")
    taste: float = Field(
        0.5, ge=0, le=1, description="What `adaptive` strives for: 0 for fresh copies, 1 for catching every version."
    )
    visits_per_day: int = Field(0, ge=0, description="No more visits than this in a day, to all hosts; 0 for no limit.")
    schedule: str = Field(
        "", description="When `rehi up` visits everything, as a cron expression (`0 1 1 * *`: monthly at 01:00)."
    )
    gone_after: float = Field(
        14 * 86_400.0, ge=0, description="Seconds after which a page that is not found any more counts as gone."
    )


class IntakeSettings(BaseModel):
    """What sources may bring."""

    model_config = _STRICT

    max_entries: int = Field(
        20_000_000,
        ge=1,
        description="Lines or records that are taken in of one source; where more follow, it stops there and says so, and goes on from there "
        "when it is started again with a higher limit. So many take some minutes; more than that fit into a gzip file of a few MB.",
    )


class ArchiveSettings(BaseModel):
    """How bytes are kept."""

    model_config = _STRICT

    file_bytes: int = Field(1_000_000_000, gt=0, description="A WARC file is closed and the next begun at this size.")
    file_seconds: float = Field(
        900.0,
        gt=0,
        description="A file that goes to a bucket is closed at this age at the latest, so that other workers see it.",
    )
    uri: str = Field(
        "",
        description="Where files go when they are closed: `s3://bucket/prefix`, `gs://…` or `az://…`; by default they "
        "stay in the data folder. Credentials are taken from the environment.",
    )
    endpoint: str = Field("", description="The address of the object store, if it is not the cloud's own.")
    region: str = Field("", description="The region of the bucket, for `s3://`.")
    local_bytes: int = Field(
        10_000_000_000, ge=0, description="Bytes of files that stay in the data folder too when the bucket has them."
    )


class WorkSettings(BaseModel):
    """What reading a document may cost."""

    model_config = _STRICT

    workers: int = Field(0, ge=0, description="Processes that read documents; 0 for as many as there are processors.")
    timeout: float = Field(60.0, gt=0, description="Seconds that one document may take.")
    memory: int = Field(2_000_000_000, gt=0, description="Bytes of memory that a reading process may use.")
    max_text: int = Field(5_000_000, gt=0, description="Characters of text that are read; the rest is left.")
    enrich: bool = Field(True, description="Whether what is read is also understood: its language, the names in it.")
    graph: bool = Field(True, description="Whether what is read is described in the graph; if not, that waits.")
    patience: float = Field(
        600.0,
        ge=0,
        description="Seconds for which `rehi harvest` and `rehi update` wait for a database, a bucket, a graph or processes that are "
        "away; `rehi up` waits for as long as it takes.",
    )


class QuerySettings(BaseModel):
    """What a query may cost."""

    model_config = _STRICT

    timeout: float = Field(30.0, gt=0, description="Seconds after which a query is ended.")
    memory: int = Field(2_000_000_000, gt=0, description="Bytes of memory after which a query is ended.")
    workers: int = Field(2, ge=1, description="Queries answered at the same time, and as many again that take long.")


class ServeSettings(BaseModel):
    """Where we answer."""

    model_config = _STRICT

    host: str = Field("127.0.0.1", description="The address to listen on. On any but loopback, changes need `token`.")
    port: int = Field(8666, ge=0, le=65535, description="The port to listen on; 0 takes a free one.")
    token: str = Field("", repr=False, description="The bearer token for everything that changes something.")
    connections: int = Field(
        4_000,
        ge=64,
        description="Connections at the same time; the one that has waited longest makes way for a new one.",
    )
    connections_by_address: int = Field(
        400, ge=16, description="Connections from one address at the same time; a proxy before rehi needs many."
    )
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
    time_zone: str = Field("UTC", description="For cron expressions and hosts' hours, as in `Europe/Tallinn`.")
    fetch: FetchSettings = FetchSettings()
    revisit: RevisitSettings = RevisitSettings()
    intake: IntakeSettings = IntakeSettings()
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
        """Order the sources: arguments win over the environment, and the environment over the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def catalogue_uri(self) -> str:
        """The catalogue's address, the default filled in."""
        return self.catalogue or f"sqlite:///{self.data.resolve()}/catalogue.db"

    @property
    def graph_uri(self) -> str:
        """The graph's address, the default filled in."""
        return self.graph or f"oxigraph://{self.data.resolve()}/graph"

    def secrets(self) -> list[str]:
        """Return every secret: the token, what is sent to single hosts, passwords in addresses, and a store's keys."""
        uris = [self.catalogue, self.graph, self.executor, self.archive.uri, self.archive.endpoint]
        uris += [host.proxy for host in self.fetch.hosts]
        passwords = [one for uri in uris for one in secrets_in(uri)]
        headers = [value for host in self.fetch.hosts for value in host.headers.values()]
        words = [word for value in headers for word in (value, value.rpartition(" ")[2])]
        keys = [value for name, value in os.environ.items() if _KEY.search(name)]
        return [secret for secret in (self.serve.token, *passwords, *words, *keys) if secret]


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
    """Return every setting in order; secrets are not shown."""
    rows: list[SettingRow] = []
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            rows += describe_settings(value, prefix=f"{prefix}{name}.")
            continue
        if isinstance(value, list) and any(isinstance(item, HostSettings) for item in value):
            value = [item.shown for item in value]
        shown = _without_secrets(value) if field.repr else ("(set)" if value else "")
        rows.append(SettingRow(f"{prefix}{name}", shown, field.default, field.description or ""))
    return rows


def _without_secrets(value: object) -> object:
    """Return a value in which what is secret in addresses is not shown."""
    if isinstance(value, str):
        return hide_secrets(value)
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value
