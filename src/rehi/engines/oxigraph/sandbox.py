"""The sandbox of a reader process: it can't open sockets.

Oxigraph answers SERVICE by HTTP, and its parser finds the word where no tokeniser of ours would look
(``SERVICE:a``, ``trueSERVICE<…>``). So the kernel says no: a seccomp filter lets socket(2) fail with EACCES.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_SOCKET_CALL = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}  # audit architecture, number of socket(2)
_INSTRUCTION = struct.Struct("HBBI")
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | 13
_OFFSET_OF_NUMBER, _OFFSET_OF_ARCHITECTURE = 0, 4
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2


class _Program(ctypes.Structure):
    """The kernel's sock_fprog: a filter and its length."""

    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def forbid_sockets() -> bool:
    """Forbid sockets to this process for good; return False if the system can't."""
    known = _SOCKET_CALL.get(os.uname().machine)
    if sys.platform != "linux" or known is None:
        return False
    architecture, number = known
    instructions = [
        (_LOAD, 0, 0, _OFFSET_OF_ARCHITECTURE),
        (_JUMP_IF_EQUAL, 0, 3, architecture),
        (_LOAD, 0, 0, _OFFSET_OF_NUMBER),
        (_JUMP_IF_EQUAL, 0, 1, number),
        (_RETURN, 0, 0, _DENY),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = b"".join(_INSTRUCTION.pack(*instruction) for instruction in instructions)
    held = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(instructions), ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0)
