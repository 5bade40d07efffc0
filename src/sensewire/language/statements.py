"""Statement patterns, the language of OPS (Wang 2004, section 4).

    (_:H, ?1, (Selling, target, Computer))
    (_:H, ?2, (Selling, price, MoneyValue))
    (?2, ?3, (MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)

Each is `(subject, object, (class, property, class), filter)`, the filter where there is one.
Classes and properties are read by meaning, vertices exactly, and different vertices of the pattern
stand for different vertices of the event. Which class may have which property is for the concept
model to say: `match/concept_model.py` asks it when the subscription is added. Cost: linear.

Departure: `SELECT ?1 WHERE` may stand before the statements; the paper selects nothing.
"""

import re
from dataclasses import dataclass

from sensewire.language.breadth import refuse_breadth
from sensewire.language.comparisons import SPELLINGS
from sensewire.language.dialect_constraints import SIGN, VALUE, condition, constraint
from sensewire.language.dialect_text import Cursor, declared, keyword, selected
from sensewire.language.dialect_values import Dialect
from sensewire.language.statement_graph import (
    THING,
    Statement,
    conjunction_of,
    refuse_unreachable,
)
from sensewire.language.words import PREDECLARED
from sensewire.model import datatypes, terms
from sensewire.model.conditions import Constant, Name, Reading, Text, TextRelation, Variable
from sensewire.model.expressions import Expression, Test
from sensewire.model.patterns import problem_with
from sensewire.model.subscription import (
    Subscription,
    TriplePattern,
    TypedStatement,
    Vertex,
)
from sensewire.model.terms import Kind, Term

_DAML = "http://www.daml.org/2001/03/daml+oil#"
_PREFIXES = {**PREDECLARED, "daml": _DAML}
_THINGS = frozenset({_DAML + THING, PREDECLARED["owl"] + THING, datatypes.RDFS + "Resource"})
_LITERALS = frozenset({datatypes.RDF + "Literal", _DAML + "Literal"})
_STATEMENT = "a statement such as (_:H, ?1, (Class, property, Class))"
_EXPRESSION = "a regular expression in quotes"
_MATCHES = ("=~", "~", "matches")
_RELATION = re.compile(rf"=~|~|(?i:matches)\b|{SIGN.pattern}")


def read(text: str, reading: Reading | None) -> Subscription:
    """The subscription that statement patterns say.

    >>> found = read("(_:H, ?1, (Selling, target, Computer))", None)
    >>> found.injective, len(found.conjunctions[0].atoms), len(found.conjunctions[0].constraints)
    (True, 2, 1)
    """
    cursor = Cursor(text)
    return _Reader(cursor, Dialect(cursor, declared(cursor, _PREFIXES), reading)).subscription()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one text."""

    cursor: Cursor
    dialect: Dialect

    def subscription(self) -> Subscription:
        cursor = self.cursor
        has_selection = cursor.take(keyword("select")) is not None
        chosen = selected(cursor) if has_selection else []
        if has_selection and not cursor.take(keyword("where")):
            raise cursor.wrong("WHERE")
        statements = self._statements()
        _refuse_breadth(statements)
        refuse_unreachable(statements)
        return Subscription(
            (conjunction_of(statements),),
            self._selected(chosen, statements) if has_selection else None,
            injective=True,
            typed=tuple([each.typed for each in statements]),
        )

    def _selected(
        self, chosen: list[tuple[Variable, int]] | None, statements: list[Statement]
    ) -> tuple[Variable, ...]:
        ends = [end for each in statements for end in (each.typed.subject, each.typed.object)]
        bound = dict.fromkeys(end for end in ends if isinstance(end, Variable))
        for variable, place in chosen or ():
            if variable not in bound:
                raise self.cursor.wrong("a variable that stands in a statement", place)
        return tuple(bound) if chosen is None else tuple([each for each, _ in chosen])

    def _statements(self) -> list[Statement]:
        cursor = self.cursor
        found: list[Statement] = []
        while not found or not cursor.is_at_end:
            if found and not cursor.took(","):
                cursor.take(keyword("and"))
            expected = _STATEMENT if not found else f"{_STATEMENT}, or the end"
            cursor.need("(", expected)
            found.append(self._statement())
        return found

    def _statement(self) -> Statement:
        """A statement pattern, from behind its first bracket."""
        cursor = self.cursor
        subject_place = cursor.place
        subject = self.dialect.vertex(is_subject=True)
        cursor.need(",")
        object_place = cursor.place
        object_ = self.dialect.vertex()
        cursor.need(",")
        cursor.need("(", "'(', then a class, a property and a class")
        subject_class = self._class()
        cursor.need(",")
        property = self.dialect.property(Reading.MEANING, "a property")
        cursor.need(",")
        object_class = self._class()
        cursor.need(")")
        filter = None
        if cursor.took(","):
            filter = self._filter(object_)
        elif not cursor.at(")"):
            raise cursor.wrong("',' and a filter, or ')'")
        cursor.need(")", "'and', 'or' or ')'")
        typed = TypedStatement(cursor.text, subject, subject_class, property, object_, object_class)
        return Statement(typed, filter, subject_place, object_place)

    def _class(self) -> Constant:
        place = self.cursor.place
        said = self.dialect.said("a class")
        if said.text in _THINGS:
            said = Name(THING)
        elif said.text in _LITERALS:
            said = terms.iri(datatypes.LITERAL)
        return self.dialect.class_constant(said, place)

    def _filter(self, object_: Vertex) -> Expression:
        if not isinstance(object_, Variable):
            expected = "')': only an object that is a variable has a filter"
            raise self.cursor.wrong(expected)
        return constraint(self.cursor, lambda: self._comparison(object_))

    def _comparison(self, object_: Variable) -> Expression:
        cursor = self.cursor
        if cursor.take(keyword("regex")):
            cursor.need("(")
            self._object(object_)
            cursor.need(",")
            found = self._matching()
            cursor.need(")")
            return Test(object_, found)
        self._object(object_)
        relation = cursor.take(_RELATION)
        if relation is None:
            raise cursor.wrong("one of = != < <= > >= matches")
        if relation[0].lower() in _MATCHES:
            return Test(object_, self._matching())
        place = cursor.place
        said = self.dialect.said(VALUE, in_constraint=True)
        sign = SPELLINGS.get(relation[0], relation[0])
        return Test(object_, condition(self.dialect, sign, said, place))

    def _object(self, object_: Variable) -> None:
        """The variable of a filter, which is the statement's object."""
        place = self.cursor.place
        if self.cursor.variable() != object_:
            raise self.cursor.wrong("the object of the statement, which its filter is about", place)

    def _matching(self) -> Text:
        place = self.cursor.place
        said = self.dialect.said(_EXPRESSION)
        if not isinstance(said, Term) or said.kind is not Kind.STRING:
            raise self.cursor.wrong(_EXPRESSION, place)
        problem = problem_with(said.text)
        if problem is not None:
            raise self.cursor.wrong(f"an RE2 expression ({problem})", place)
        return Text(TextRelation.MATCHES, said.text)


def _refuse_breadth(statements: list[Statement]) -> None:
    typed = [each.typed for each in statements]
    patterns = [TriplePattern(each.subject, each.property, each.object) for each in typed]
    refuse_breadth(patterns, [each.subject_place for each in statements])
