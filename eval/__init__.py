"""The quality gate: how well names and languages are recognised, against gold data and pinned floors."""
