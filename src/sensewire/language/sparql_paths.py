"""Property paths: read to a small tree, then laid between two vertices as patterns.

    a / b     two patterns with a variable between them        ^a        a pattern turned round
    a | b     a union of two groups                            !(a|^b)   a variable property that is
                                                                         none of these, either way

Paths of any length have no such form, and are refused; under meaning, `rdfs:subClassOf*` and
`rdfs:subPropertyOf*` are what the knowledge says of narrower and broader. Cost: linear.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sensewire.language.sparql_cursor import Cursor
from sensewire.language.sparql_tokens import IRI, NAME, SIGN, VARIABLE, WORD
from sensewire.language.sparql_tree import Below, Condition, Element, Group, Triples, Union
from sensewire.model import datatypes
from sensewire.model.conditions import Constant, Different, IsA, OneOf, Reading, Variable
from sensewire.model.errors import UnsupportedError
from sensewire.model.expressions import Expression, Negation, Test
from sensewire.model.subscription import TriplePattern
from sensewire.model.terms import RDF_TYPE

_SUB_CLASS = datatypes.RDFS + "subClassOf"
_SUB_PROPERTY = datatypes.RDFS + "subPropertyOf"
_LENGTHS = ("*", "+", "?")
_PATH_SIGNS = frozenset(("/", "|", *_LENGTHS))


@dataclass(frozen=True, slots=True)
class Inverse:
    """`^path`."""

    path: "Path"


@dataclass(frozen=True, slots=True)
class Sequence:
    """`path/path`."""

    parts: tuple["Path", ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """`path|path`."""

    parts: tuple["Path", ...]
    position: int


@dataclass(frozen=True, slots=True)
class NoneOf:
    """`!(a|^b)`: the properties that it is not, and those that it is not the other way round."""

    forward: tuple[Constant, ...]
    backward: tuple[Constant, ...]
    position: int


@dataclass(frozen=True, slots=True)
class Upwards:
    """`rdfs:subClassOf*` or `rdfs:subPropertyOf*`, by meaning."""

    property: str
    position: int


Path = Constant | Inverse | Sequence | Alternative | NoneOf | Upwards


class Paths:
    """Reads the paths of one query."""

    def __init__(self, cursor: Cursor) -> None:
        self._of = cursor

    def verb(self) -> Variable | Path:
        """What stands between a subject and an object."""
        of = self._of
        kind = of.kinds[of.at]
        if kind == VARIABLE:
            return of.variable()
        if kind in (NAME, IRI) and of.texts[of.at + 1] not in _PATH_SIGNS:  # as most are
            return self._property(of.reading)
        return self._alternative()

    def _alternative(self) -> Path:
        of, place = self._of, self._of.place
        first = self._sequence()
        if not of.is_sign("|"):
            return first
        parts = [first]
        while of.takes("|"):
            parts.append(self._sequence())
        return Alternative(tuple(parts), place)

    def _sequence(self) -> Path:
        of = self._of
        first = self._element()
        if not of.is_sign("/"):
            return first
        parts = [first]
        while of.takes("/"):
            parts.append(self._element())
        return Sequence(tuple(parts))

    def _element(self) -> Path:
        of = self._of
        is_inverse = of.takes("^")
        path = self._primary()
        sign = of.texts[of.at]
        if sign in _LENGTHS and of.kinds[of.at] == SIGN and not of.is_signed_number():
            path = self._of_any_length(path, sign)
        return Inverse(path) if is_inverse else path

    def _of_any_length(self, path: Path, sign: str) -> Path:
        of = self._of
        name = path.value.text if isinstance(path, Constant) else ""
        is_known = name in (_SUB_CLASS, _SUB_PROPERTY)
        if is_known and sign == "*" and of.reading is Reading.MEANING:
            made = Upwards(name, of.place)
            of.at += 1
            return made
        hint = '; parse it with reading="meaning"' if is_known and sign == "*" else ""
        raise UnsupportedError(f"{sign} in a property path, whose length is open{hint}", of.place)

    def _primary(self) -> Path:
        of = self._of
        if of.takes("!"):
            return self._none_of(of.place)
        if of.is_sign("("):
            of.deeper(of.place)
            of.at += 1
            path = self._alternative()
            of.must(")", "'/', '|' or ")
            of.shallower()
            return path
        return self._property(of.reading)

    def _property(self, reading: Reading) -> Constant:
        of, place = self._of, self._of.place
        kind, text = of.kinds[of.at], of.texts[of.at]
        if kind == WORD and text == "a":
            of.at += 1
            return Constant(RDF_TYPE, reading, place)
        if kind in (NAME, IRI):
            term = of.term()
            assert term is not None
            return Constant(term, reading, place)
        raise of.wrong("a property: an IRI, a prefixed name, a variable, `a` or a path")

    def _none_of(self, place: int) -> NoneOf:
        """Behind `!`. The properties that are excluded are these and no narrower ones."""
        of = self._of
        forward: list[Constant] = []
        backward: list[Constant] = []
        is_list = of.takes("(")
        while True:
            found = backward if of.takes("^") else forward
            found.append(self._property(Reading.EXACT))
            if not (is_list and of.takes("|")):
                break
        if is_list:
            of.must(")", "'|' or ")
        return NoneOf(tuple(forward), tuple(backward), place)


class Connections:
    """Lays paths between vertices; `add` takes the elements that they come to."""

    def __init__(self, cursor: Cursor) -> None:
        self._of = cursor

    def lay(
        self,
        subject: Variable | Constant,
        path: Path,
        object_: Variable | Constant,
        add: Callable[[Element], None],
    ) -> None:
        """The patterns, unions and conditions that a path comes to."""
        match path:
            case Constant():
                self._of.count_pattern()
                add(_single(TriplePattern(subject, path, object_)))
            case Inverse():
                self.lay(object_, path.path, subject, add)
            case Sequence():
                *middles, last = path.parts
                for part in middles:
                    middle = self._of.fresh()
                    self.lay(subject, part, middle, add)
                    subject = middle
                self.lay(subject, last, object_, add)
            case Alternative():
                groups = tuple(self._group(subject, part, object_) for part in path.parts)
                add(Union(groups, path.position))
            case NoneOf():
                self._lay_none_of(subject, path, object_, add)
            case Upwards():
                add(self._upwards(subject, path, object_))

    def _group(
        self, subject: Variable | Constant, path: Path, object_: Variable | Constant
    ) -> Group:
        elements: list[Element] = []
        self.lay(subject, path, object_, elements.append)
        return Group(elements, self._of.place)

    def _lay_none_of(
        self,
        subject: Variable | Constant,
        path: NoneOf,
        object_: Variable | Constant,
        add: Callable[[Element], None],
    ) -> None:
        ways = []
        if path.forward:
            ways.append(self._other_than(subject, path.forward, object_, path.position))
        if path.backward:
            ways.append(self._other_than(object_, path.backward, subject, path.position))
        if len(ways) > 1:
            add(Union(tuple(Group(way, path.position) for way in ways), path.position))
        else:
            for element in ways[0]:
                add(element)

    def _other_than(
        self,
        subject: Variable | Constant,
        excluded: tuple[Constant, ...],
        object_: Variable | Constant,
        place: int,
    ) -> list[Element]:
        self._of.count_pattern()
        property = self._of.fresh()
        condition: Expression
        if len(excluded) == 1:
            condition = Test(property, Different(excluded[0]))
        else:
            condition = Negation(Test(property, OneOf(excluded)))
        pattern = TriplePattern(subject, property, object_)
        return [_single(pattern), Condition(condition, place, {})]

    def _upwards(
        self, subject: Variable | Constant, path: Upwards, object_: Variable | Constant
    ) -> Element:
        word = "rdfs:subClassOf*" if path.property == _SUB_CLASS else "rdfs:subPropertyOf*"
        if not isinstance(subject, Variable) or not isinstance(object_, Constant):
            raise UnsupportedError(
                f"{word} from anything but a variable to anything but an IRI", path.position
            )
        if path.property == _SUB_CLASS:
            return Condition(Test(subject, IsA(object_)), path.position, {})
        if self._of.count(subject) != 2:
            raise UnsupportedError(
                f"{word} from {subject}, which stands elsewhere too: "
                "one pattern may have it as its property, and nothing else may ask for it",
                path.position,
            )
        return Below(subject, object_, path.position)


def _single(pattern: TriplePattern) -> Triples:
    parts = (pattern.subject, pattern.property, pattern.object)
    return Triples([pattern], {part for part in parts if isinstance(part, Variable)})
