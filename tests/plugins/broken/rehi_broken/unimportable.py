"""A module that can't be imported."""

raise RuntimeError("this package was made for another planet")
