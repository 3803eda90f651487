"""Parts for rehi that can't be loaded, or fail."""

__version__ = "9.9"
