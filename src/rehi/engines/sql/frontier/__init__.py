"""The frontier on SQL: hosts leased with their due resources, and visits recorded."""
