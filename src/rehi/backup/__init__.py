"""The backup room: what a house keeps, stored again elsewhere, each piece once, and given back as it was."""

from rehi.backup.manifest import Backup, BackupFile, BackupPart
from rehi.backup.repository import Repository
from rehi.backup.upkeep import BackupVerification, Pruned, prune, set_aside, verify
from rehi.backup.writer import BackupWriter, writing

__all__ = [
    "Backup",
    "BackupFile",
    "BackupPart",
    "BackupVerification",
    "BackupWriter",
    "Pruned",
    "Repository",
    "prune",
    "set_aside",
    "verify",
    "writing",
]
