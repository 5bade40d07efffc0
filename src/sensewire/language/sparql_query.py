"""From the text of a SPARQL query to its tree, by recursive descent.

What is well formed and has no form in the model raises `UnsupportedError` with its name; anything
else that is no query, `ParseError`. Cost: linear in the text.
"""

from sensewire.language.sparql_cursor import Cursor
from sensewire.language.sparql_expressions import Expressions
from sensewire.language.sparql_patterns import Block, Patterns
from sensewire.language.sparql_tokens import END, IRI, NAME, VARIABLE
from sensewire.language.sparql_tree import (
    Assigned,
    Element,
    Group,
    Minus,
    Query,
    Triples,
    Union,
    Values,
)
from sensewire.model.conditions import Constant, Reading, Variable
from sensewire.model.errors import UnsupportedError

_ONE_BY_ONE = "events are matched one by one"
_FORMS = {
    "CONSTRUCT": "a subscription selects, or asks",
    "DESCRIBE": "a subscription selects, or asks",
    "FROM": "the event is the graph",
    "VERSION": "SPARQL 1.1 is read",
    **dict.fromkeys(
        ["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"],
        "an update is no query",
    ),
}
_IN_GROUP = {
    "OPTIONAL": "every variable of a row is bound; ask without it, or twice",
    "GRAPH": "an event is one graph",
    "SERVICE": "nothing is fetched",
    "SELECT": "a query inside a query",
    "LATERAL": "SPARQL 1.1 is read",
}
_MODIFIERS = {
    "GROUP": _ONE_BY_ONE,
    "HAVING": _ONE_BY_ONE,
    "ORDER": _ONE_BY_ONE,
    "LIMIT": _ONE_BY_ONE,
    "OFFSET": _ONE_BY_ONE,
}
_WITH_BY = ("GROUP", "ORDER")
_IN_A_GROUP = "a triple pattern, FILTER, BIND, VALUES, MINUS, '{' or '}'"


def query_of(text: str, reading: Reading) -> Query:
    """The tree of a query."""
    return _Reader(Cursor(text, reading)).query()


class _Reader:
    """Reads one query."""

    def __init__(self, cursor: Cursor) -> None:
        self._of = cursor
        self._patterns = Patterns(cursor)
        self._expressions = Expressions(cursor, self._group)

    def query(self) -> Query:
        of = self._of
        self._prologue()
        self._refuse(_FORMS)
        place = of.place
        if of.takes_word("ASK"):
            select: list[Variable] | None = None
            assigned: list[Assigned] = []
            every = False
        elif of.takes_word("SELECT"):
            select, assigned, every = self._selection()
        else:
            raise of.wrong("SELECT or ASK")
        self._refuse(_FORMS)
        of.takes_word("WHERE")
        where = self._group("a group, '{'")
        self._refuse(_MODIFIERS)
        trailing: list[Element] = list(assigned)
        if of.word() == "VALUES":
            trailing.append(self._values())
        if of.kinds[of.at] != END:
            raise of.wrong("the end" if trailing else "VALUES or the end")
        for each in assigned:
            self._must_be_new(each, [*where.elements, *trailing[len(assigned) :]])
        if trailing:
            where = Group([Union((where,), place), *trailing], where.position)
        if every:
            select = self._visible(where.elements)
        return Query(where, None if select is None else tuple(select), of.places, of.fresh)

    def _prologue(self) -> None:
        of = self._of
        while True:
            if of.takes_word("PREFIX"):
                at = of.at
                name = of.texts[at]
                if of.kinds[at] != NAME or not name.endswith(":") or name.count(":") > 1:
                    raise of.wrong("a prefix to declare, such as ex:")
                of.at += 1
                of.names.declare(name, self._address(), of.spots[at + 1])
            elif of.takes_word("BASE"):
                place = of.place
                of.names.set_base(self._address(), place)
            else:
                return

    def _address(self) -> str:
        of = self._of
        if of.kinds[of.at] != IRI:
            raise of.wrong("an IRI between < and >")
        of.at += 1
        return of.texts[of.at - 1]

    def _refuse(self, words: dict[str, str]) -> None:
        of = self._of
        word = of.word()
        if word in words:
            name = f"{word} BY" if word in _WITH_BY else word
            raise UnsupportedError(f"{name}: {words[word]}", of.place)

    def _selection(self) -> tuple[list[Variable], list[Assigned], bool]:
        """The variables that are selected, constants that some stand for, and whether all are."""
        of = self._of
        if of.word() in ("DISTINCT", "REDUCED"):
            of.at += 1
        if of.takes("*"):
            return [], [], True
        select: list[Variable] = []
        assigned: list[Assigned] = []
        while True:
            place = of.place
            if of.is_sign("("):
                of.at += 1
                found = self._assigned("SELECT", place)
                assigned.append(found)
                variable = found.variable
            elif of.kinds[of.at] == VARIABLE:
                variable = of.variable()
            elif select:
                return select, assigned, False
            else:
                raise of.wrong("a variable such as ?x, or *")
            if variable in select:
                raise of.wrong(f"{variable} once", place)
            select.append(variable)

    def _group(self, expected: str = "'{'") -> Group:
        of, place = self._of, self._of.place
        if not of.takes("{"):
            raise of.wrong(expected)
        of.deeper(place)
        self._refuse(_IN_GROUP)
        elements: list[Element] = []
        block = Block(elements)
        is_apart = True  # from a triple pattern before
        while not of.takes("}"):
            if self._patterns.starts():
                if not is_apart:
                    raise of.wrong("'.', ';' or ',' between triple patterns")
                self._patterns.triples(block)
                is_apart = of.takes(".")
            else:
                self._other(block)
                of.takes(".")
                is_apart = True
        of.shallower()
        return Group(elements, place)

    def _other(self, block: Block) -> None:
        """An element that is no triple pattern."""
        of = self._of
        place, word = of.place, of.word()
        if word == "FILTER":
            of.at += 1
            block.elements += self._expressions.filter()
            return
        block.end()
        if of.is_sign("{"):
            if of.text.startswith("{|", place):
                raise UnsupportedError("{|, an annotation (RDF 1.2)", place)
            groups = [self._group()]
            while of.takes_word("UNION"):
                groups.append(self._group())
            block.add(Union(tuple(groups), place))
        elif word == "MINUS":
            of.at += 1
            block.add(Minus(self._group(), place))
        elif word == "BIND":
            of.at += 1
            of.must("(")
            found = self._assigned("BIND", place)
            self._must_be_new(found, block.elements)
            block.add(found)
        elif word == "VALUES":
            block.add(self._values())
        else:
            self._refuse(_IN_GROUP)
            raise of.wrong(_IN_A_GROUP)

    def _assigned(self, word: str, place: int) -> Assigned:
        """`constant AS ?x)`."""
        of = self._of
        start = of.at
        term = of.term()
        if term is None or of.word() != "AS":
            of.at = start
            self._skip_expression()
            raise UnsupportedError(f"{word} of anything but a constant", place)
        of.at += 1
        place = of.place
        variable = of.variable()
        of.must(")")
        return Assigned(variable, term, place)

    def _must_be_new(self, assigned: Assigned, elements: list[Element]) -> None:
        if assigned.variable in self._visible(elements):
            expected = f"a new variable: {assigned.variable} is bound otherwise"
            raise self._of.wrong(expected, assigned.position)

    def _skip_expression(self) -> None:
        """Read on over what is refused, so that nonsense is told from it."""
        of = self._of
        self._expressions.anything()
        if not of.takes_word("AS"):
            raise of.wrong("an operator or AS")
        of.variable()
        of.must(")")

    def _values(self) -> Values:
        of, place = self._of, self._of.place
        of.at += 1
        variables: list[Variable] = []
        is_single = of.kinds[of.at] == VARIABLE
        if is_single:
            variables.append(of.variable())
        else:
            of.must("(", "a variable or ")
            while not of.takes(")"):
                variables.append(of.variable())
        of.must("{")
        rows: list[tuple[Constant | None, ...]] = []
        while not of.takes("}"):
            if is_single:
                rows.append((self._datum(),))
            else:
                rows.append(self._data(len(variables)))
        return Values(tuple(variables), tuple(rows), place)

    def _data(self, width: int) -> tuple[Constant | None, ...]:
        of, place = self._of, self._of.place
        of.must("(", "'}' or ")
        row: list[Constant | None] = []
        while not of.takes(")"):
            row.append(self._datum())
        if len(row) != width:
            raise of.wrong(f"{width} values, one for each variable, not {len(row)}", place)
        return tuple(row)

    def _datum(self) -> Constant | None:
        of = self._of
        if of.takes_word("UNDEF"):
            return None
        constant = of.constant()
        if constant is None:
            raise of.wrong("an IRI, a literal or UNDEF")
        return constant

    def _visible(self, elements: list[Element]) -> list[Variable]:
        """The variables that elements bind, in the order in which they stand; no blank nodes."""
        found: dict[Variable, None] = {}
        for element in elements:
            match element:
                case Triples():
                    for pattern in element.patterns:
                        for part in (pattern.subject, pattern.property, pattern.object):
                            if isinstance(part, Variable):
                                found[part] = None
                case Union():
                    for inner in element.groups:
                        found.update(dict.fromkeys(self._visible(inner.elements)))
                case Assigned():
                    found[element.variable] = None
                case Values():
                    found.update(dict.fromkeys(element.variables))
        return [variable for variable in found if variable in self._of.places]
