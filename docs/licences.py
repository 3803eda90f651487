"""Licences: what the installed packages say of themselves, against what has been looked at. Run by ``make licences``.

A package that rehi needs at run time, or that one of those needs, must have a licence that goes with Apache-2.0. What a
package offers as a choice counts by the better one. The LGPL is allowed to those that are named here, and the GPL to none.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

ALLOWED = re.compile(
    r"\b(apache|mit|mit-0|mit-cmu|0?bsd|isc|psf|python software foundation|mozilla|mpl|zlib|cc0|unlicense)\b",
    re.IGNORECASE,
)
REFUSED = re.compile(
    r"\b(a?gpl|affero|general public|sspl|busl|commons clause|non-?commercial|proprietary)\b", re.IGNORECASE
)
# Used as they are and imported when the program runs, so that anybody can put another version in their place.
LESSER = {
    "pebble": "LGPL: worker processes",
    "psycopg": "LGPL-3: rehi[postgres]",
    "psycopg-binary": "LGPL-3: rehi[postgres]",
}
# Where the metadata says nothing or too much; what was read instead.
READ = {
    "rehi": "Apache-2.0",
    "estnltk": "Apache-2.0 (a choice; the vabamorf in it is LGPL by its makers' own file)",
    "estnltk-core": "Apache-2.0 (a choice)",
    "pycurl": "MIT (a choice)",
}


def normal(name: str) -> str:
    """Return a package's name as the standard for them says."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name: str, extras: frozenset[str], seen: dict[str, Distribution]) -> dict[str, Distribution]:
    """Return a package and all that it needs here, by name."""
    from packaging.requirements import Requirement

    try:
        package = distribution(name)
    except PackageNotFoundError:  # it is for another system
        return seen
    seen.setdefault(normal(name), package)
    for line in package.requires or ():
        requirement = Requirement(line)
        wanted = requirement.marker is None or any(
            requirement.marker.evaluate({"extra": extra}) for extra in (extras or {""}) | {""}
        )
        if wanted and normal(requirement.name) not in seen:
            needed(requirement.name, frozenset(requirement.extras), seen)
    return seen


def licence_of(package: Distribution) -> str:
    """Return what a package says of its licence."""
    metadata = package.metadata
    classifiers = [
        one.rpartition("::")[2].strip() for one in metadata.get_all("Classifier") or () if "License ::" in one
    ]
    return str(metadata.get("License-Expression") or "; ".join(classifiers) or (metadata.get("License") or "")[:80])


def judge(name: str, says: str) -> str:
    """Return what is wrong with a licence; "" if nothing is."""
    if name in READ or name in LESSER:
        return ""
    if REFUSED.search(says) or "LGPL" in says or "Lesser" in says:
        return f"{name}: {says} does not go with Apache-2.0, or has to be looked at"
    return (
        "" if ALLOWED.search(says) else f"{name}: {says or 'it says nothing'}; read its licence, and write it down here"
    )


def report() -> Iterator[str]:
    """Yield what is wrong, and print all licences."""
    for name, package in sorted(needed("rehi", frozenset({"postgres", "s3"}), {}).items()):
        says = READ.get(name) or LESSER.get(name) or licence_of(package)
        print(f"{name:28} {package.version:16} {says.splitlines()[0] if says else ''}")
        if wrong := judge(name, says):
            yield wrong


if __name__ == "__main__":
    if problems := list(report()):
        sys.exit("\n".join(problems))
