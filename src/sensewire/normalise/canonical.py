"""Canonical terms: the root of every value, looked up once for each distinct value and scope.

Cost: a sort of the facts, and one look-up for each pair of a value and a scope that occur together.
"""

from dataclasses import replace

import numpy as np

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.words import Scope
from sensewire.model.batch import Batch
from sensewire.model.terms import Term


def canonical(batch: Batch, knowledge: Knowledge) -> Batch:
    """The batch with the root of each object.

    >>> from sensewire.events.encode import encode
    >>> from sensewire.model.event import Event
    >>> batch = canonical(encode([Event.record({"a": "x", "b": ["x", 1]})]), Knowledge())
    >>> [batch.roots[number].text for number in batch.root]
    ['x', 'x', '1']
    """
    scopes: dict[Scope, int] = {}
    scope_of = np.zeros(len(batch.terms), dtype=np.int64)
    for code in np.unique(batch.property).tolist():
        scope_of[code] = scopes.setdefault(knowledge.scope_of(batch.terms[code]), len(scopes))
    read = scope_of[batch.property] * len(batch.terms) + batch.object
    pairs, places = np.unique(read, return_inverse=True)
    by_number = list(scopes)
    numbers: dict[Term, int] = {}
    found = [
        numbers.setdefault(knowledge.value_root(batch.terms[code], by_number[scope]), len(numbers))
        for scope, code in zip(
            *(part.tolist() for part in np.divmod(pairs, max(1, len(batch.terms)))), strict=True
        )
    ]
    root = np.array(found, dtype=np.int32)[places.reshape(-1)]
    return replace(batch, root=root, roots=tuple(numbers))
