"""What a text may ask for at most; past it, `UnsupportedError` says so."""

LONGEST = 1_000_000
"""Characters of a text."""
DEEPEST = 200
"""Brackets, `not`s and operations inside each other; passes over a formula recurse that deep."""
MOST_CONJUNCTIONS = 1_024
"""Conjunctions of a disjunction, once every `or` is spread."""
MOST_PARTS = 1_000_000
"""Atoms and constraints that are made while a disjunction is spread."""
LONGEST_QUERY = 262_144
"""Characters of a text in GQL, SPARQL or statement patterns."""
MOST_PATTERNS = 1_000
"""Triple patterns of such a text."""
MOST_UNJOINED = 16
"""Groups of patterns that share no variable: their solutions multiply."""
