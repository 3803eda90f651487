"""The ports: what the rooms need of the engines, and no more.

Each has a contract suite in ``rehi.testing.contracts`` that is its specification; every engine runs it.
One engine may stand behind several ports, as the SQL catalogue does behind ten.
"""

from rehi.ports.catalogue import Catalogue
from rehi.ports.executor import Executor
from rehi.ports.graph import Graph, GraphChange, QueryAnswer, QueryLimits, ReplaceGraph, ReplaceSubject
from rehi.ports.keeping import Captures, Inventory, Ledger, Outbox, Stock
from rehi.ports.looking import Index
from rehi.ports.shelf import Shelf
from rehi.ports.visiting import Frontier, Hosts, Sources, Updates

__all__ = [
    "Captures",
    "Catalogue",
    "Executor",
    "Frontier",
    "Graph",
    "GraphChange",
    "Hosts",
    "Index",
    "Inventory",
    "Ledger",
    "Outbox",
    "QueryAnswer",
    "QueryLimits",
    "ReplaceGraph",
    "ReplaceSubject",
    "Shelf",
    "Sources",
    "Stock",
    "Updates",
]
