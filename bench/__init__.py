"""The benchmarks: ``python -m bench NAME``; without a name, a list of them."""
