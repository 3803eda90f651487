"""The port Generation: the graph's mark, as the catalogue knows it."""
