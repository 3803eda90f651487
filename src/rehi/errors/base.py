"""The base of all errors: what happens next to a thing that failed."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import ClassVar


class Disposition(StrEnum):
    """What the pipeline does with a thing that failed."""

    RETRY = "retry"  # again later, waiting longer each time
    WAIT = "wait"  # nobody's fault: the engine is waited for, and the same is done again
    SKIP = "skip"  # not now; looked at again on its ordinary schedule
    QUARANTINE = "quarantine"  # set aside until a person or a newer version looks at it
    STOP = "stop"  # end the command with one sentence


def _code_of(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


class RehiError(Exception):
    """Everything rehi raises on purpose."""

    disposition: ClassVar[Disposition] = Disposition.STOP
    code: ClassVar[str] = "rehi-error"  # made of the name of the class, unless the class has one of its own
    advice: ClassVar[str] = ""  # what a person can do about it

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.code = cls.__dict__.get("code") or _code_of(cls.__name__)
