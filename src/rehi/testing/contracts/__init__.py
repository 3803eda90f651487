"""The contracts: what each port promises, as tests that every engine runs."""
