"""Workers on SQL: who works, and the updates that they make."""
