"""Weather reports for rehi: a package that an outsider might write."""

__version__ = "0.3.1"
