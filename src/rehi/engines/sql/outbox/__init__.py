"""The outbox on SQL: work that a commit has caused, claimed by workers."""
