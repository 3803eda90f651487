"""Testing: contracts for engines, and real parts to test with."""
