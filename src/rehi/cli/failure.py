"""A failed command: one sentence on standard error, and the exit code."""

from __future__ import annotations

import errno
import json
import sys

import click

from rehi.errors import DiskFull, RehiError


def explain(error: BaseException, *, as_json: bool) -> int:
    """Say what went wrong and what to do; the exit code is 1 for that, 2 for wrong usage, 130 for Ctrl-C."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return 130
    if isinstance(error, BrokenPipeError):
        sys.stderr.close()
        return 0
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        error = DiskFull("the disk is full; make room and start again, nothing is lost")
    if not isinstance(error, RehiError):
        raise error
    if as_json:
        print(json.dumps({"error": {"code": error.code, "message": str(error)}}), file=sys.stderr)
    else:
        print(f"rehi: {error}", file=sys.stderr)
    return 1
