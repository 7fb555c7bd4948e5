"""How a run outlives its nodes: full state, durable checkpoints, audits, failures and supervision."""
