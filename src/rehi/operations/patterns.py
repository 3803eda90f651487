"""Patterns: regular expressions of whoever asks, matched by RE2, which takes a time in proportion to the text."""

from __future__ import annotations

from rehi.errors import SettingsError

LONGEST = 300  # characters of a pattern
_MEMORY = 1 << 20  # bytes that a pattern may take; the usual ones take some 10 KB


class Pattern:
    """A pattern that a whole text has to match."""

    def __init__(self, text: str) -> None:
        import re2

        if len(text) > LONGEST:
            raise SettingsError(f"a pattern may have {LONGEST} characters")
        options = re2.Options()
        options.max_mem, options.log_errors, options.dot_nl = _MEMORY, False, True
        try:
            self._pattern = re2.compile(text, options=options)
        except (re2.error, UnicodeEncodeError) as error:
            reason = error.args[0].decode("utf-8", "replace") if isinstance(error, re2.error) else "it is no text"
            raise SettingsError(f"the pattern {text!r} can't be used: {reason}") from error

    def matches(self, text: str) -> bool:
        """Return whether the pattern matches the whole text."""
        return self._pattern.fullmatch(text) is not None
