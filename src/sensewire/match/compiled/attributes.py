"""The attributes that subscriptions name, numbered, and which of them a fact's property serves.

An attribute is asked for by meaning (any property that is ⊑ it serves), exactly (the same name), or
nearly, for subscriptions with `within`: there a more general property serves too.

    asked for     held under                      a property looks under
    by meaning    ("below", each root)            ("below", each root above it)
    exactly       ("name", text), ("term", …)     its name, itself
    nearly        ("below", …), ("above", each    the same, and ("above", each of its roots)
                  root above it)

Cost: a look-up for each root above a property, once for each property, again when attributes came.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator

from sensewire.knowledge.knowledge import Knowledge
from sensewire.knowledge.words import Scope
from sensewire.match.views import spelled
from sensewire.model.conditions import Constant, Name, Reading
from sensewire.model.terms import Kind, Term, local_name


class Attributes:
    """The attributes of an index; they are never forgotten, so that numbers stay what they are."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[tuple[Constant, bool], int] = {}
        self._under: dict[Hashable, list[int]] = defaultdict(list)
        self._serving: dict[Term, tuple[int, ...]] = {}
        self.asked: list[tuple[Constant, bool]] = []
        """Each attribute as it was first asked for, and whether nearly."""
        self.scopes: list[Scope] = []
        """Where the constants for each attribute are looked up."""

    def __len__(self) -> int:
        return len(self.scopes)

    def number(self, attribute: Constant, nearly: bool = False) -> int:
        """The number of an attribute; a new one where it is new."""
        known = self._known.get((attribute, nearly))
        if known is not None:
            return known
        keys = frozenset(self._keys(attribute, nearly))
        number = self._numbers.get(keys)
        if number is None:
            number = self._numbers[keys] = len(self.scopes)
            self.asked.append((attribute, nearly))
            self.scopes.append(self._knowledge.scope_of(spelled(attribute)))
            for key in keys:
                self._under[key].append(number)
            self._serving.clear()
        self._known[attribute, nearly] = number
        return number

    def served_by(self, property: Term) -> tuple[int, ...]:
        """The numbers of the attributes that a fact with this property is about."""
        found = self._serving.get(property)
        if found is None:
            numbers = (number for key in self._probes(property) for number in self._under[key])
            found = self._serving[property] = tuple(dict.fromkeys(numbers))
        return found

    def names(self) -> list[str]:
        """The texts that attributes are held under: all that serves them without being known."""
        texts = (key[1] for key in self._under if isinstance(key, tuple))
        return list(dict.fromkeys(each if isinstance(each, str) else each.text for each in texts))

    def _keys(self, attribute: Constant, nearly: bool) -> Iterator[Hashable]:
        if isinstance(attribute.value, Name):
            yield ("name", attribute.value.text)
        elif attribute.reading is Reading.EXACT:
            yield _exactly(attribute.value)
        else:
            for root in self._knowledge.attribute_roots(spelled(attribute)):
                yield ("below", root)
            if nearly:
                for root in self._knowledge.attributes_above(spelled(attribute)):
                    yield ("above", root)

    def _probes(self, property: Term) -> Iterator[Hashable]:
        keys: list[Hashable] = [
            *(("below", root) for root in self._knowledge.attributes_above(property)),
            *(("above", root) for root in self._knowledge.attribute_roots(property)),
            ("name", local_name(property.text) if property.kind is Kind.IRI else property.text),
            _exactly(property),
        ]
        return (key for key in keys if key in self._under)


def _exactly(term: Term) -> Hashable:
    """Exact strings are one by their text, whether typed or not."""
    by_text = term.kind in (Kind.STRING, Kind.UNTYPED)
    return ("text", term.text) if by_text else ("term", term)
