"""Canonical terms: the root of every value, looked up once for each distinct value and scope.

Cost: a sort of the facts, and one look-up for each pair of a value and a scope that occur together.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.words import Scope
from sensewire.model.batch import Batch
from sensewire.model.terms import Term

Counts = npt.NDArray[np.int64]


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
    places = places.reshape(-1)
    by_number = list(scopes)
    read_as = [
        (batch.terms[code], by_number[scope])
        for scope, code in (divmod(pair, len(batch.terms)) for pair in pairs.tolist())
    ]
    numbers: dict[Term, int] = {}
    found = [
        numbers.setdefault(knowledge.value_root(term, scope), len(numbers))
        for term, scope in read_as
    ]
    return replace(
        batch,
        root=np.array(found, dtype=np.int32)[places],
        roots=tuple(numbers),
        ambiguous=_ambiguous(read_as, np.bincount(places, minlength=len(pairs)), knowledge),
    )


def _ambiguous(
    read_as: Sequence[tuple[Term, Scope]], counts: Counts, knowledge: Knowledge
) -> dict[str, int]:
    """The words of several meanings, and how often each occurs."""
    if not knowledge.content.entities:
        return {}
    found: Counter[str] = Counter()
    for (term, scope), count in zip(read_as, counts.tolist(), strict=True):
        if knowledge.is_ambiguous(term, scope):
            found[term.text] += count
    return found
