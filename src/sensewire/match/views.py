"""Values as matchers see them: what is above a value, worked out once, and conditions made ready.

A condition is made ready once, when its subscription is added: its constants' roots are looked up
then, and what is left is a test of a `View`. `keys_of` and `probes` serve hashing: a view that
meets a condition shares a key with it.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.words import Scope
from sensewire.model import comparison, datatypes
from sensewire.model.conditions import (
    Between,
    Binds,
    Condition,
    Constant,
    Different,
    Equal,
    Exists,
    IsA,
    IsAbove,
    IsDirectlyA,
    Name,
    OneOf,
    Order,
    Reading,
    Text,
    TextRelation,
)
from sensewire.model.patterns import compiled
from sensewire.model.terms import RDF_TYPE, Kind, Term, iri, local_name, string

Ready = Callable[["View"], bool]
WITH_TEXT = frozenset((Kind.STRING, Kind.UNTYPED, Kind.LANGUAGE, Kind.IRI))
"""The kinds whose terms have a text that conditions on text read."""


@dataclass(frozen=True, slots=True)
class View:
    """A value with what is above it, as roots and as sent."""

    term: Term
    above: frozenset[Term]  # the roots that it is ⊑
    own: frozenset[Term]  # the roots of itself and of its classes
    declared: frozenset[Term]  # the roots of its declared classes and parents
    named: tuple[Term, ...]  # itself, its classes and its datatypes, as sent
    direct: tuple[Term, ...]  # its declared classes and parents, as sent


def view_of(term: Term, root: Term, types: Iterable[Term], knowledge: Knowledge) -> View:
    """A value, seen through the knowledge and the classes that its event declares for it."""
    sent = tuple(types)
    listed = knowledge.classes(root)
    fitted = tuple(_datatypes_of(term))
    scope = knowledge.scope_of(RDF_TYPE)
    sent_roots = [knowledge.value_root(each, scope) for each in sent]
    classes = [*sent_roots, *map(knowledge.root, listed)]
    itself = () if term.kind is Kind.NUMBER else (root,)  # NaN is not even below itself
    parents = knowledge.parents(root)
    return View(
        term=term,
        above=frozenset().union(*map(knowledge.above, (*itself, *sent_roots, *fitted))),
        own=frozenset((root, *classes)),
        declared=frozenset((*classes, *map(knowledge.root, parents), *fitted[:1])),
        named=(term, *sent, *listed, *fitted),
        direct=(*sent, *listed, *parents, *fitted[:1]),
    )


def _datatypes_of(term: Term) -> Iterator[Term]:
    """A literal's datatype, then what else it is by its text or by the datatype's bases."""
    if term.datatype is not None:
        fitting = (
            datatype
            for datatype in datatypes.FITTED_DATATYPES
            if term.kind is Kind.UNTYPED and datatypes.fits(term.text, datatype)
        )
        yield from map(iri, dict.fromkeys((*datatypes.bases(term.datatype), *fitting)))


def ready(condition: Condition, knowledge: Knowledge, scope: Scope) -> Ready:
    """A condition as a test of a view; its constants are looked up in a scope."""
    match condition:
        case Equal():
            return _equal(condition.constant, knowledge, scope)
        case Different():
            held = _equal(condition.constant, knowledge, scope)
            return lambda view: not held(view)
        case OneOf():
            tests = [_equal(constant, knowledge, scope) for constant in condition.constants]
            return lambda view: any(test(view) for test in tests)
        case Order(relation, bound):
            return lambda view: (
                (found := comparison.order(view.term, bound)) is not None and relation.holds(found)
            )
        case Between(low, high):
            return lambda view: (
                (comparison.order(view.term, low) in (0, 1))
                and (comparison.order(view.term, high) in (-1, 0))
            )
        case Text():
            return _text(condition)
        case Exists() | Binds():
            return lambda view: True
        case IsA() | IsDirectlyA() | IsAbove():
            return _class(condition, knowledge, scope)
        case _:
            assert_never(condition)


def _equal(constant: Constant, knowledge: Knowledge, scope: Scope) -> Ready:
    if constant.reading is Reading.EXACT:
        return lambda view: stands_for(constant.value, view.term)
    term = spelled(constant)
    root = knowledge.value_root(term, scope)
    return lambda view: root in view.above or comparison.equal(view.term, term)


def _class(condition: IsA | IsDirectlyA | IsAbove, knowledge: Knowledge, scope: Scope) -> Ready:
    constant = condition.constant
    root = knowledge.value_root(spelled(constant), scope)
    exact = constant.reading is Reading.EXACT
    match condition:
        case IsA() if exact:
            return lambda view: any(stands_for(constant.value, term) for term in view.named)
        case IsA():
            return lambda view: root in view.above
        case IsDirectlyA() if exact:
            return lambda view: any(stands_for(constant.value, term) for term in view.direct)
        case IsDirectlyA():
            return lambda view: root in view.declared
        case IsAbove():
            over = knowledge.above(root) - {root}
            return lambda view: not over.isdisjoint(view.own)


def _text(condition: Text) -> Ready:
    wanted = condition.text
    match condition.relation:
        case TextRelation.PREFIX:
            return lambda view: view.term.kind in WITH_TEXT and view.term.text.startswith(wanted)
        case TextRelation.SUFFIX:
            return lambda view: view.term.kind in WITH_TEXT and view.term.text.endswith(wanted)
        case TextRelation.CONTAINS:
            return lambda view: view.term.kind in WITH_TEXT and wanted in view.term.text
        case TextRelation.MATCHES:
            pattern = compiled(wanted)
            return lambda view: (
                view.term.kind in WITH_TEXT and pattern.search(view.term.text) is not None
            )
        case _:
            assert_never(condition.relation)


def stands_for(constant: Term | Name, term: Term) -> bool:
    """Whether an exact constant stands for a term."""
    match constant:
        case Name(text):
            if term.kind is Kind.IRI:
                return local_name(term.text) == text
            return term.datatype is not None and term.text == text
        case Term(kind=Kind.NUMBER):
            return term.kind is Kind.NUMBER and comparison.equal(term, constant)
        case Term(kind=Kind.STRING | Kind.UNTYPED):
            return term.kind in (Kind.STRING, Kind.UNTYPED) and term.text == constant.text
        case _:
            return term == constant


def spelled(constant: Constant) -> Term:
    """A constant's term; a bare name is the string that it spells."""
    return string(constant.value.text) if isinstance(constant.value, Name) else constant.value


def keys_of(condition: Condition, knowledge: Knowledge, scope: Scope) -> frozenset[Hashable] | None:
    """Keys, one of which every view that meets the condition probes; None where there are none."""
    match condition:
        case Equal():
            return frozenset(_keys_of_constant(condition.constant, knowledge, scope))
        case OneOf():
            made = (_keys_of_constant(each, knowledge, scope) for each in condition.constants)
            return frozenset(key for keys in made for key in keys)
        case IsA(constant) if constant.reading is Reading.MEANING:
            return frozenset({("root", knowledge.value_root(spelled(constant), scope))})
        case IsDirectlyA(constant) if constant.reading is Reading.MEANING:
            return frozenset({("declared", knowledge.value_root(spelled(constant), scope))})
        case IsAbove(constant):
            root = knowledge.value_root(spelled(constant), scope)
            return frozenset(("own", above) for above in knowledge.above(root) - {root})
        case _:
            return None


def _keys_of_constant(constant: Constant, knowledge: Knowledge, scope: Scope) -> Iterator[Hashable]:
    if isinstance(constant.value, Name):
        yield ("name", constant.value.text)
        return
    yield from _keys_of_value(constant.value)
    if constant.reading is Reading.MEANING:
        yield ("root", knowledge.value_root(constant.value, scope))


def probes(view: View) -> Iterator[Hashable]:
    """The keys that a view looks under."""
    for root in view.above:
        yield ("root", root)
    for root in view.declared:
        yield ("declared", root)
    for root in view.own:
        yield ("own", root)
    term = view.term
    if term.datatype is not None or term.kind is Kind.IRI:
        yield ("name", local_name(term.text) if term.kind is Kind.IRI else term.text)
    yield from _keys_of_value(term)


def _keys_of_value(term: Term) -> Iterator[Hashable]:
    """Keys such that terms equal in value, bridges included, share one."""
    match term.kind:
        case Kind.NUMBER:
            number = comparison.numeric(term)
            assert number is not None
            yield ("number", comparison.as_double(number))
        case Kind.BOOLEAN:
            yield ("boolean", term.value)
        case Kind.STRING | Kind.UNTYPED | Kind.DATE | Kind.QUANTITY:
            yield ("text", term.text)
            number = comparison.numeric(term)
            if number is not None:
                yield ("number", comparison.as_double(number))
            date = comparison.date_of(term)
            if date is not None:
                yield ("date", date)
            quantity = comparison.quantity_of(term)
            if quantity is not None:
                yield ("quantity", quantity.dimension, quantity.base)
        case _:
            yield ("term", term)
