"""Numbers for concepts and words, such that what is narrower than a concept is a few runs of them.

All that the knowledge orders is numbered depth first, each concept before what is below it: what is
below a concept is then one run, or a few where concepts have many parents. Words that nobody knows
get the next numbers as they come. Numbers are never reused.

    Device 0                   Device   0 … 3
    ├─ Computer 1              Computer 1 … 2
    │  └─ Laptop 2             Laptop   2
    └─ Phone 3                 "gizmo"  4      unknown

Cost: one walk over the hierarchy at the first question, and one below each concept that is asked
for.
"""

from collections.abc import Callable
from functools import cached_property

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.vocabulary import THING
from sensewire.model import datatypes
from sensewire.model.terms import FALSE, TRUE, Kind, Term

Run = tuple[int, int]
"""The first number, and the one after the last."""


class Concepts:
    """The numbers of roots, and the runs of what is below them."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._runs: dict[Term, tuple[Run, ...]] = {}
        self._hierarchy = 0
        self._saved: Callable[[Term], int | None] | None = None
        self._saved_count = 0
        self._listed: Callable[[], list[Term]] = list

    @cached_property
    def _numbers(self) -> dict[Term, int]:
        """The hierarchy, depth first; a concept with many parents stands below the first one."""
        values = self._knowledge.values
        content = self._knowledge.content
        ends = (end for pair in (*content.broader, *content.instances) for end in pair)
        roots = dict.fromkeys(values.root(end) for end in ends)
        numbers: dict[Term, int] = {}
        waiting = [root for root in roots if not values.parents(root)][::-1]
        while waiting:
            root = waiting.pop()
            if root not in numbers:
                numbers[root] = len(numbers)
                waiting.extend(reversed(values.children(root)))
        self._hierarchy = len(numbers)
        return numbers

    def number(self, root: Term) -> int:
        """The number of a root that is asked for; booleans are one by their value."""
        root = _one_of_its_value(root)
        known = self.find(root)
        if known is None:
            known = self._numbers[root] = len(self._numbers) + self._saved_count
        return known

    def find(self, root: Term) -> int | None:
        """The number of a root, if it has one: nothing that is asked for is above it otherwise."""
        root = _one_of_its_value(root)
        known = self._numbers.get(root)
        if known is None and self._saved is not None:
            known = self._saved(root)
        return known

    def with_saved(
        self, find: Callable[[Term], int | None], count: int, listed: Callable[[], list[Term]]
    ) -> None:
        """Take over the numbers of words that an index folder holds: the first ones."""
        assert len(self._numbers) == self.of_hierarchy, "some word has a number already"
        self._saved = find
        self._saved_count = count
        self._listed = listed

    @property
    def of_hierarchy(self) -> int:
        """How many numbers the knowledge's own concepts take, which come first."""
        self._numbers  # noqa: B018 - they are numbered by the first look
        return self._hierarchy

    def words(self) -> list[Term]:
        """The roots that the knowledge does not order and that have numbers, in their order."""
        return [*self._listed(), *list(self._numbers)[self.of_hierarchy :]]

    def runs_below(self, root: Term) -> tuple[Run, ...]:
        """The numbers of a root and of all that is narrower, as runs.

        >>> from sensewire.model.terms import string
        >>> Concepts(Knowledge()).runs_below(string("laptop"))
        ((0, 1),)
        """
        runs = self._runs.get(root)
        if runs is None:
            below = self._knowledge.below(root)
            runs = self._runs[root] = runs_of(sorted(self.number(each) for each in below))
        return runs

    def is_of_words_alone(self, root: Term) -> bool:
        """Whether numbers tell all that is below a root: no datatype is, and it is not Thing."""
        if root == THING:
            return False
        return not any(is_datatype(each) for each in self._knowledge.below(root))


def runs_of(numbers: list[int]) -> tuple[Run, ...]:
    """Ascending numbers as runs.

    >>> runs_of([1, 2, 3, 7, 8])
    ((1, 4), (7, 9))
    """
    runs: list[Run] = []
    for number in numbers:
        if runs and runs[-1][1] == number:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return tuple(runs)


def _one_of_its_value(root: Term) -> Term:
    if root.kind is Kind.BOOLEAN:
        return TRUE if root.value else FALSE
    return root


def is_datatype(root: Term) -> bool:
    """Whether a root is a datatype, which numbers of concepts say nothing of."""
    named = (datatypes.LITERAL, datatypes.LANGUAGE_STRING, datatypes.QUANTITY)
    return root.kind is Kind.IRI and (root.text.startswith(datatypes.XSD) or root.text in named)
