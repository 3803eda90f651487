"""The command line in this process: what it prints and how it ends, without a second of imports for each command."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from rehi.cli import main


def rehi(*words: str, data: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as from a shell."""
    line = ["rehi", *(["--data", str(data)] if data else []), *words]
    out, error, code = StringIO(), StringIO(), 0
    with (
        redirect_stdout(out),
        redirect_stderr(error),
        patch.object(sys, "argv", line),
        patch.dict(os.environ, environment),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return subprocess.CompletedProcess(line, code, out.getvalue(), error.getvalue())
