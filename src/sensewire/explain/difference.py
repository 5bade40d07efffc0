"""Whose matches may change when knowledge changes: subscriptions under an old and a new one.

For every constant that is read by meaning, what it stands for is compared: the entities that are ⊑
it (for `is above` and `within` also those above it), for an attribute the narrower ones and the
functions that may make them, through all that these read. If it stands for the same, and no word of
it may be read differently (`knowledge.changes`), no event can tell the two apart.

The law: a subscription that matches some event differently is told here. Left out are only the
bounds, which more facts may pass: the steps of a search, and the calls and facts of functions that
do not loop; where a loop of functions changed, events may be rejected, and everybody is told.

Cost: both contents once; for each distinct constant, what is below it.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from typing import NamedTuple

from sensewire.explain.standing import Placed, Standing, named
from sensewire.explain.wording import cut, visible
from sensewire.knowledge.changes import changes_between
from sensewire.knowledge.content import own_name
from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.mappings import MappingFunction
from sensewire.knowledge.relations import looping
from sensewire.match.ambiguity import refuse_ambiguity
from sensewire.match.concept_model import ConceptModel
from sensewire.match.oracle_values import spelled
from sensewire.model.conditions import (
    Condition,
    Constant,
    Equal,
    IsA,
    IsAbove,
    IsDirectlyA,
    Reading,
    constants_of,
    exact,
    meaning,
)
from sensewire.model.errors import SubscriptionError
from sensewire.model.expressions import tests_in
from sensewire.model.subscription import Conjunction, Not, Predicate, Subscription, TriplePattern
from sensewire.model.terms import RDF_TYPE, Kind, Term

_MOST_WORDS = 3
_LONGEST_WORD = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """A subscription that may match differently, and why."""

    subscription: str
    reasons: tuple[str, ...]


class Asked(NamedTuple):
    """A condition with the attribute that it stands with; neither need be there."""

    attribute: Constant | None
    condition: Condition | None
    of_any: bool = False  # whether the property is a variable


def differences(
    subscriptions: Iterable[tuple[str, Subscription]], old: Knowledge, new: Knowledge
) -> Iterator[Difference]:
    """The subscriptions, given with their ids, that may match some event differently.

    >>> from sensewire.knowledge.content import Draft, EntityKind, Place, in_scheme
    >>> from sensewire.language.parse import parse
    >>> draft = Draft()
    >>> pair = in_scheme("tablet", "shop"), in_scheme("computer", "shop")
    >>> for entity in pair:
    ...     _ = draft.entity(entity, "shop", EntityKind.CONCEPT)
    >>> old = Knowledge(draft.content())
    >>> draft.broader[pair] = Place("shop.yaml")
    >>> new = Knowledge(draft.content())
    >>> asked = [("anna", parse("product = computer")), ("ben", parse("product = book"))]
    >>> list(differences(asked, old, new))
    [Difference(subscription='anna', reasons=('computer now covers tablet',))]
    """
    if old == new:
        return
    both = _Both(Standing(old), Standing(new))
    for id, subscription in subscriptions:
        reasons = tuple(dict.fromkeys(both.reasons(subscription)))
        if reasons:
            yield Difference(id, reasons)


class _Both:
    """The old and the new knowledge; every answer is kept, for many ask the same."""

    def __init__(self, old: Standing, new: Standing) -> None:
        self._sides = (old, new)
        self._changes = changes_between(old.relations, new.relations)
        self._told: dict[Hashable, list[str]] = {}
        self._loops = list(self._of_loops())

    def reasons(self, subscription: Subscription) -> Iterator[str]:
        """Why a subscription may match differently; nothing if it cannot."""
        refusals = [_refusal(subscription, side.knowledge) for side in self._sides]
        if all(refusals):
            return
        for refusal, which in zip(refusals, ("old", "new"), strict=True):
            if refusal is not None:
                yield f"the {which} knowledge refuses it: {refusal}"
                return
        yield from self._loops
        if subscription.strict:
            return  # only what was sent counts
        near = subscription.tolerance is not None
        for conjunction in subscription.conjunctions:
            for asked in _asked(conjunction):
                yield from self._of_asked(asked, near)

    def _of_asked(self, asked: Asked, near: bool) -> Iterator[str]:
        constants = list(_looked_up(asked.condition))
        if asked.attribute is not None:
            if constants or asked.attribute.reading is Reading.MEANING:
                yield from self._of_attribute(asked.attribute, near)
            yield from self._functions_of(asked.attribute, near)
        if asked.of_any:
            yield from self._functions_of(None, near)
            if constants and self._changes.scopes:
                yield "the values of some attribute are read in other schemes"
        if constants:
            yield from self._functions_of(exact(RDF_TYPE), near=False)
            yield from self._of_classes()
        for constant in constants:
            assert asked.condition is not None
            yield from self._of_value(asked.condition, constant, asked.attribute, near)

    def _once(self, key: Hashable, find: Callable[[], Iterable[str]]) -> list[str]:
        if key not in self._told:
            self._told[key] = list(find())
        return self._told[key]

    def _of_value(
        self, condition: Condition, constant: Constant, attribute: Constant | None, near: bool
    ) -> list[str]:
        scopes = [
            None if attribute is None else side.knowledge.scope_of(spelled(attribute))
            for side in self._sides
        ]

        def find() -> Iterator[str]:
            old, new = (
                frozenset(side.value(condition, constant, scope, near))
                for side, scope in zip(self._sides, scopes, strict=True)
            )
            yield from self._compared(_said(named(constant.value)), old, new)

        return self._once((type(condition), constant, *scopes, near), find)

    def _of_attribute(self, attribute: Constant, near: bool) -> list[str]:
        def find() -> Iterator[str]:
            old, new = (frozenset(side.attribute(attribute, near)) for side in self._sides)
            yield from self._compared(f"the attribute {_said(named(attribute.value))}", old, new)

        return self._once(("attribute", attribute, near), find)

    def _of_classes(self) -> Iterator[str]:
        old, new = (side.knowledge.scope_of(RDF_TYPE) for side in self._sides)
        if old != new:
            yield "classes that events declare are read in other schemes"

    def _compared(self, what: str, old: frozenset[Placed], new: frozenset[Placed]) -> Iterator[str]:
        """How two things differ that one constant stands for; nothing if they cannot."""
        before, after = ({term for term, _ in placed} for placed in (old, new))
        was, now = _words(before), _words(after)
        gained, lost = _words(after - before) - was, _words(before - after) - now
        touched = filter(self._changes.touches, before & after)
        reread = (_words(before ^ after) & was & now) | _words(touched)
        if gained:
            yield f"{what} now covers {_few(gained)}"
        if lost:
            yield f"{what} no longer covers {_few(lost)}"
        if reread:
            yield f"{what} may be read differently: {_few(reread)}"
        if old != new and not (gained or lost or reread):
            yield f"{what} is nearer to or further from {_few(_words(t for t, _ in old ^ new))}"

    def _functions_of(self, attribute: Constant | None, near: bool) -> list[str]:
        def find() -> Iterator[str]:
            old, new = (side.functions(attribute, near) for side in self._sides)
            yield from self._of_functions(old, new)

        return self._once(("functions", attribute, near), find)

    def _of_functions(
        self, old: Iterable[MappingFunction], new: Iterable[MappingFunction]
    ) -> Iterator[str]:
        """How the functions behind something differ: by definition, or in what serves them."""
        before, after = ({(each.inputs, each.outputs): each for each in of} for of in (old, new))
        came = {after[each].name for each in after.keys() - before.keys()}
        went = {before[each].name for each in before.keys() - after.keys()}
        for names, what in ((came & went, "changed"), (came - went, "new"), (went - came, "gone")):
            if names:
                yield f"behind it, {what}: the function {_few(names)}"
        for inputs, _ in before.keys() & after.keys():
            for _, input in inputs:
                for reason in self._of_attribute(meaning(input), near=False):
                    yield f"behind it, {reason}"

    def _of_loops(self) -> Iterator[str]:
        """Why events may be rejected, or no longer."""
        found = []
        for side in self._sides:
            names = set(looping(side.relations))
            found.append(side.behind(f for f in side.knowledge.mappings if f.name in names))
        if any(self._of_functions(*found)):
            names = {each.name for of in found for each in of}
            yield f"functions that read what they write changed: {_few(names)}"


def _refusal(subscription: Subscription, knowledge: Knowledge) -> str | None:
    try:
        refuse_ambiguity(subscription, knowledge)
        ConceptModel(knowledge).refuse_impossible(subscription)
    except SubscriptionError as error:
        return str(error)
    return None


def _asked(conjunction: Conjunction) -> Iterator[Asked]:
    """Everything that a conjunction asks of attributes and values."""
    for atom in conjunction.atoms:
        match atom:
            case Predicate():
                yield Asked(atom.attribute, atom.condition)
            case TriplePattern():
                if isinstance(atom.subject, Constant):
                    yield Asked(None, Equal(atom.subject))
                value = Equal(atom.object) if isinstance(atom.object, Constant) else None
                if isinstance(atom.property, Constant):
                    yield Asked(atom.property, value)
                else:
                    yield Asked(None, value, of_any=True)
            case Not(body):
                yield from _asked(body)
    for constraint in conjunction.constraints:
        yield from (Asked(None, test.condition) for test in tests_in(constraint))


def _looked_up(condition: Condition | None) -> Iterator[Constant]:
    """The constants of a condition that knowledge has a say in."""
    for constant in () if condition is None else constants_of(condition):
        by_class = isinstance(condition, IsA | IsDirectlyA | IsAbove)
        if by_class or constant.reading is Reading.MEANING:
            yield constant


def _words(terms: Iterable[Term]) -> set[str]:
    return {own_name(term) if term.kind is Kind.IRI else term.text for term in terms}


def _few(words: set[str]) -> str:
    shown = [_said(word) for word in nsmallest(_MOST_WORDS, words)]
    more = len(words) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _said(word: str) -> str:
    return cut(visible(word), _LONGEST_WORD)
