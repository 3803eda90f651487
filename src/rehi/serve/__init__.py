"""The doors over HTTP: SPARQL, REST and pages."""

from rehi.serve.server import running

__all__ = ["running"]
