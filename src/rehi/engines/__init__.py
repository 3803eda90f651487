"""The engines: what stands behind the ports."""
