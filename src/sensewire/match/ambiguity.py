"""Refuses a subscription that has a word of two meanings: its writer must say which.

Only constants under meaning are looked up; each in the scope of the attribute that it stands with.
"""

from collections.abc import Iterator

from sensewire.knowledge.content import SCHEME, is_plain_name
from sensewire.knowledge.knowledge import Knowledge, called
from sensewire.knowledge.wordnet import SCHEME as WORDNET
from sensewire.knowledge.words import Scope
from sensewire.match.views import spelled
from sensewire.model.conditions import Constant, Reading, Variable, constants_of
from sensewire.model.errors import SubscriptionError
from sensewire.model.expressions import tests_in
from sensewire.model.subscription import (
    Conjunction,
    Not,
    Predicate,
    Subscription,
    TriplePattern,
)
from sensewire.model.terms import Term

_MOST_LISTED = 12


def refuse_ambiguity(subscription: Subscription, knowledge: Knowledge) -> None:
    """Raise SubscriptionError, with the meanings, for the first constant that has several."""
    if not knowledge.content.entities:
        return
    for conjunction in subscription.conjunctions:
        for constant, scope in looked_up(conjunction, knowledge):
            term = spelled(constant)
            meanings = knowledge.value_meanings(term, scope)
            if len(meanings) > 1:
                raise SubscriptionError(_message(term.text, meanings))


def looked_up(conjunction: Conjunction, knowledge: Knowledge) -> Iterator[tuple[Constant, Scope]]:
    """The constants that stand for values or classes under meaning, each with its scope."""
    found: list[tuple[Constant, Scope]] = []
    for atom in conjunction.atoms:
        match atom:
            case Predicate():
                scope = knowledge.scope_of(spelled(atom.attribute))
                found += ((each, scope) for each in constants_of(atom.condition))
            case TriplePattern():
                if isinstance(atom.subject, Constant):
                    found.append((atom.subject, None))
                if isinstance(atom.object, Constant):
                    found.append((atom.object, _scope(atom.property, knowledge)))
            case Not(body):
                yield from looked_up(body, knowledge)
    for constraint in conjunction.constraints:
        for test in tests_in(constraint):
            found += ((each, None) for each in constants_of(test.condition))
    yield from (each for each in found if each[0].reading is Reading.MEANING)


def _scope(property: Variable | Constant, knowledge: Knowledge) -> Scope:
    return knowledge.scope_of(spelled(property)) if isinstance(property, Constant) else None


def _message(word: str, meanings: tuple[Term, ...]) -> str:
    listed = [_spelling(meaning) for meaning in meanings[:_MOST_LISTED]]
    more = len(meanings) - len(listed)
    return (
        f"{word!r} has {len(meanings)} meanings: {', '.join(listed)}"
        f"{f' and {more} more' if more else ''}; write the one that is meant, "
        f"or `exactly` before the word to mean the text alone"
    )


def _spelling(meaning: Term) -> str:
    """How a subscription says this meaning and no other."""
    if not is_plain_name(meaning):
        return str(meaning)
    of_sense = _scheme(meaning) == WORDNET  # plant#2 is a name that no other scheme has
    name = meaning.text if of_sense else f"{_scheme(meaning)}:{called(meaning)}"
    return f'"{name}"'


def _scheme(meaning: Term) -> str:
    return (meaning.datatype or "").removeprefix(SCHEME)
