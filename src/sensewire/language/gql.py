"""GQL, the language of G-ToPSS (Liu 2005, section 3.2 and Figure 12).

    SELECT ?x WHERE (G-ToPSS, Supervisor, Arno Jacobsen), (G-ToPSS, YEAR, ?x) SUCHTHAT (?x > 2000)

Constants are read exactly, and two variables may stand for one vertex. `<=` and `>=` before a name
or an IRI ask the taxonomy, as `descendantOf` and `ancestorOf` do, and their class is read by
meaning; before all else they compare. Cost: linear in the text.

Departure: `=` before a name is Boolean too, where the paper lets it mean either; the direct
instance is `childOf`. Departure: a property may be a variable, which the paper leaves for later.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sensewire.language.breadth import refuse_breadth
from sensewire.language.comparisons import SPELLINGS
from sensewire.language.dialect_constraints import (
    SIGN,
    VALUE,
    condition,
    constraint,
    is_class,
    related,
)
from sensewire.language.dialect_text import Cursor, declared, keyword, selected
from sensewire.language.dialect_values import Dialect
from sensewire.model.conditions import (
    Condition,
    Constant,
    IsA,
    IsAbove,
    IsDirectlyA,
    Reading,
    Variable,
)
from sensewire.model.expressions import Expression, Test
from sensewire.model.subscription import Conjunction, Subscription, TriplePattern, bound_by

_PATTERN = "a pattern such as (?x, property, value)"
_WORDS: Mapping[str, type[IsA | IsAbove | IsDirectlyA]] = {
    "descendantof": IsA,
    "ancestorof": IsAbove,
    "childof": IsDirectlyA,
}
_OF_CLASSES = {**_WORDS, "<=": IsA, ">=": IsAbove}
_RELATION = re.compile(rf"(?i:descendantOf|ancestorOf|childOf)\b|{SIGN.pattern}")


def read(text: str, reading: Reading | None) -> Subscription:
    """The subscription that a GQL text says.

    >>> found = read("SELECT ?x WHERE (G-ToPSS, YEAR, ?x) SUCHTHAT (?x > 2000)", None)
    >>> found.select, found.conjunctions[0].constraints[0].condition.bound.value
    ((Variable(name='x'),), 2000)
    """
    return _Reader.of(text, reading).subscription()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one text."""

    cursor: Cursor
    dialect: Dialect
    places: dict[Variable, int] = field(default_factory=dict)  # where constraints name variables

    @staticmethod
    def of(text: str, reading: Reading | None) -> "_Reader":
        cursor = Cursor(text)
        return _Reader(cursor, Dialect(cursor, declared(cursor), reading))

    def subscription(self) -> Subscription:
        cursor = self.cursor
        has_selection = cursor.take(keyword("select")) is not None
        chosen = selected(cursor) if has_selection else []
        if not cursor.take(keyword("where")):
            raise cursor.wrong("WHERE" if has_selection else "SELECT or WHERE")
        patterns = self._patterns()
        constraints = self._constraints() if cursor.take(keyword("such", "that")) else ()
        if not cursor.is_at_end:
            raise cursor.wrong("',', SUCHTHAT or the end" if not constraints else "',' or the end")
        conjunction = Conjunction(patterns, constraints)
        bound = dict.fromkeys(bound_by(conjunction))
        for variable, place in (*(chosen or ()), *self.places.items()):
            if variable not in bound:
                raise cursor.wrong("a variable that stands in a pattern", place)
        variables = tuple(bound) if chosen is None else tuple([each for each, _ in chosen])
        return Subscription((conjunction,), variables if has_selection else None)

    def _patterns(self) -> tuple[TriplePattern, ...]:
        cursor = self.cursor
        patterns: list[TriplePattern] = []
        places: list[int] = []
        while not patterns or self._goes_on(cursor.at("(")):
            places.append(cursor.place)
            cursor.need("(", _PATTERN)
            patterns.append(self._pattern())
        refuse_breadth(patterns, places)
        return tuple(patterns)

    def _pattern(self) -> TriplePattern:
        """A pattern, from behind its first bracket."""
        cursor = self.cursor
        subject = self.dialect.vertex(is_subject=True)
        cursor.need(",")
        property = cursor.variable() or self._property()
        cursor.need(",")
        object_ = self.dialect.vertex()
        cursor.need(")")
        return TriplePattern(subject, property, object_)

    def _property(self) -> Constant:
        return self.dialect.property(Reading.EXACT, "a variable or a property")

    def _goes_on(self, has_more: bool) -> bool:
        """Whether another part follows: after a comma, after `and`, or after nothing."""
        return has_more or self.cursor.took(",") or self.cursor.take(keyword("and")) is not None

    def _constraints(self) -> tuple[Expression, ...]:
        found = [constraint(self.cursor, self._comparison)]
        while self._goes_on(self.cursor.at("(")):
            found.append(constraint(self.cursor, self._comparison))
        return tuple(found)

    def _comparison(self) -> Expression:
        """`?x > 2000`, or `?x, >, 2000` as the paper's text writes it."""
        variable = self._variable()
        self.cursor.took(",")
        found = self.cursor.take(_RELATION)
        if found is None:
            raise self.cursor.wrong("one of = != < <= > >= descendantOf ancestorOf childOf")
        self.cursor.took(",")
        relation = SPELLINGS.get(found[0], found[0].lower())
        if relation not in _WORDS and self.cursor.at("?"):
            return related(relation, variable, self._variable())
        return Test(variable, self._condition(relation))

    def _condition(self, relation: str) -> Condition:
        place = self.cursor.place
        asks_classes = relation in _WORDS
        said = self.dialect.said("a class" if asks_classes else VALUE, in_constraint=True)
        if asks_classes or (relation in _OF_CLASSES and is_class(said)):
            return _OF_CLASSES[relation](self.dialect.class_constant(said, place))
        return condition(self.dialect, relation, said, place)

    def _variable(self) -> Variable:
        place = self.cursor.place
        variable = self.cursor.variable()
        if variable is None:
            raise self.cursor.wrong("a constraint such as (?x > 2000)")
        self.places.setdefault(variable, place)
        return variable
