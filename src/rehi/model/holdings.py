"""Holdings: what the archive holds, in versions and bytes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """The versions of one type or one host. Dropped ones don't count."""

    name: str
    versions: int
    bodies: int  # that came here first
    logical: int  # bytes of all versions, each counted by itself
    distinct: int  # bytes that no earlier version had, here or elsewhere
    stored: int  # bytes of the versions' own records, as they lie in the files

    @property
    def duplicate(self) -> int:
        """The bytes of versions whose body was stored before, and so not again."""
        return self.logical - self.distinct


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """The whole archive by the catalogue's knowledge."""

    versions: int  # with their bytes
    bodies: int  # different ones that are kept
    logical: int  # bytes of all versions
    distinct: int  # bytes of the different bodies
    stored: int  # bytes of the versions' own records
    dropped_versions: int
    dropped_bodies: int
    dropped_bytes: int
    by_type: tuple[Holding, ...]  # the largest first
    by_host: tuple[Holding, ...]
    types: int  # in all, also those that are not listed
    hosts: int

    @property
    def revisits(self) -> int:
        """Versions whose bytes were there already."""
        return self.versions - self.bodies

    @property
    def duplicate(self) -> int:
        """The bytes of versions whose body was stored before, and so not again."""
        return self.logical - self.distinct


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """How bodies are stored, by the records of some of them."""

    looked_at: int
    of: int  # bodies in all
    whole: int = 0
    deltas: int = 0
    missing: int = 0  # records that can't be read
    delta_bytes: int = 0  # of the bodies that are stored as deltas
    delta_stored: int = 0  # of their records
    whole_bytes: int = 0
    whole_stored: int = 0

    @property
    def delta_saved(self) -> int:
        """Bytes that the deltas looked at save, against whole records that are compressed as well as the whole ones are."""
        ratio = self.whole_stored / self.whole_bytes if self.whole_bytes else 1.0
        return max(0, round(self.delta_bytes * ratio) - self.delta_stored)

    @property
    def summary(self) -> str:
        """How bodies are stored, in a sentence."""
        bodies = (
            f"All {self.of:,} bodies"
            if self.looked_at == self.of
            else f"{self.looked_at:,} of {self.of:,} bodies, chosen by lot"
        )
        sentence = f"{bodies}: {self.whole:,} are stored whole, {self.deltas:,} as deltas"
        if self.deltas:
            sentence += (
                f" ({self.delta_bytes:,} bytes in {self.delta_stored:,}, some {self.delta_saved:,} fewer than whole)"
            )
        if self.missing:
            sentence += f"; {self.missing:,} can't be read here: rehi archive verify says more"
        return f"{sentence}."
