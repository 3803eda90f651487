"""Comparing: what is different between two versions, told in the way that their kind asks for."""
