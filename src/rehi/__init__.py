"""rehi: bring the public web's documents in, keep every version, and ask who, what and where."""

__version__ = "0.1.0"
