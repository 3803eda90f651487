"""The ledger on SQL: which bytes are kept, where, and what was pruned."""
