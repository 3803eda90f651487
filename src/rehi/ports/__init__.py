"""The ports: what the rooms need of the engines, and no more.

Each has a contract suite in ``rehi.testing.contracts`` that is its specification; every engine runs it.
One engine may stand behind several ports, as the SQL catalogue does behind most.
"""

from rehi.ports.catalogue import Catalogue
from rehi.ports.executor import Executor
from rehi.ports.graph import (
    DescribedPage,
    Graph,
    GraphChange,
    GraphContext,
    QueryAnswer,
    QueryLimits,
    ReplaceGraph,
    ReplaceSubject,
    Topic,
)
from rehi.ports.keeping import Captures, Inventory, Ledger, Stock
from rehi.ports.knowledge import Knowledge
from rehi.ports.looking import Index
from rehi.ports.outbox import Outbox
from rehi.ports.shelf import Shelf, ShelfEngine
from rehi.ports.visiting import Frontier, Hosts, Sources, Updates
from rehi.ports.workers import Workers

__all__ = [
    "Captures",
    "Catalogue",
    "DescribedPage",
    "Executor",
    "Frontier",
    "Graph",
    "GraphChange",
    "GraphContext",
    "Hosts",
    "Index",
    "Inventory",
    "Knowledge",
    "Ledger",
    "Outbox",
    "QueryAnswer",
    "QueryLimits",
    "ReplaceGraph",
    "ReplaceSubject",
    "Shelf",
    "ShelfEngine",
    "Sources",
    "Stock",
    "Topic",
    "Updates",
    "Workers",
]
