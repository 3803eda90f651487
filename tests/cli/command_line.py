"""The command line in this process: what it prints and how it ends, without a second of imports for each command."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

from rehi.cli import main


def rehi(*words: str, data: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as from a shell."""
    line = ["rehi", *(["--data", str(data)] if data else []), *words]
    out, error = (TextIOWrapper(BytesIO(), encoding="utf-8", newline="", write_through=True) for _ in range(2))
    code = 0
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
    said = [stream.detach().getvalue().decode() for stream in (out, error)]
    return subprocess.CompletedProcess(line, code, *said)
