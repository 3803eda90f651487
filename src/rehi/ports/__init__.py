"""The ports: what the rooms need of the engines, and no more.

Each has a contract suite in ``rehi.testing.contracts`` that is its specification; every engine runs it.
One engine may stand behind several ports, as the SQL catalogue does behind most.
"""

from rehi.ports.backup_store import BackupStore
from rehi.ports.catalogue import Catalogue
from rehi.ports.executor import Executor
from rehi.ports.frontier import Frontier, LeaseRules, VisitRules
from rehi.ports.generation import Generation
from rehi.ports.graph import (
    DescribedPage,
    Graph,
    GraphChange,
    GraphContext,
    PublishedFiles,
    QueryAnswer,
    QueryLimits,
    ReplaceGraph,
    ReplaceSubject,
    Topic,
)
from rehi.ports.index import Index
from rehi.ports.knowledge import Knowledge, ReadRules
from rehi.ports.ledger import Ledger
from rehi.ports.outbox import Outbox
from rehi.ports.retention import Retention
from rehi.ports.shelf import Shelf, ShelfEngine
from rehi.ports.sources import Sources
from rehi.ports.workers import Workers

__all__ = [
    "BackupStore",
    "Catalogue",
    "DescribedPage",
    "Executor",
    "Frontier",
    "Generation",
    "Graph",
    "GraphChange",
    "GraphContext",
    "Index",
    "Knowledge",
    "LeaseRules",
    "Ledger",
    "Outbox",
    "PublishedFiles",
    "QueryAnswer",
    "QueryLimits",
    "ReadRules",
    "ReplaceGraph",
    "ReplaceSubject",
    "Retention",
    "Shelf",
    "ShelfEngine",
    "Sources",
    "Topic",
    "VisitRules",
    "Workers",
]
