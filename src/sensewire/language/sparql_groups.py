"""From the groups of a SPARQL query to conjunctions.

A group becomes *rows*: alternatives, each with atoms, constraints and the variables that it binds.
Elements are joined in the order in which they stand; filters come last, since they see the whole
group and nothing outside it, but for those inside EXISTS, which see the group around it as well.

    UNION, VALUES    more rows              MINUS         a `Not` of what shares a variable
    FILTER           constraints            NOT EXISTS    a `Not`; EXISTS, a `Not` of it
    BIND             a `Bind`

A variable that some rows leave unbound is an error to a filter, as SPARQL has it. Variables that
belong to one `Not` alone are renamed where the same name stands elsewhere in the query. Cost:
linear in the rows, which are counted before they are made.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from sensewire.language.limits import MOST_CONJUNCTIONS, MOST_PARTS
from sensewire.language.sparql_tree import (
    Assigned,
    Below,
    Condition,
    Exists,
    Group,
    Minus,
    Triples,
    Union,
    Values,
)
from sensewire.model.canonical import renamed
from sensewire.model.conditions import Constant, OneOf, Reading, Variable
from sensewire.model.errors import UnsupportedError
from sensewire.model.expressions import (
    And,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Negation,
    Or,
    Sign,
    Test,
    variables_in,
)
from sensewire.model.expressions import (
    Minus as Opposite,
)
from sensewire.model.subscription import Atom, Bind, Conjunction, Not, TriplePattern
from sensewire.model.terms import FALSE, Kind, Term, string

NEVER = Not(Conjunction())
Bound = frozenset[Variable]
NOTHING: Bound = frozenset()


@dataclass(slots=True, eq=False)
class Row:
    """One alternative of a group."""

    atoms: list[Atom] = field(default_factory=list)
    constraints: list[Expression] = field(default_factory=list)
    binds: set[Variable] = field(default_factory=set)

    def joined(self, other: "Row") -> "Row":
        """Both together."""
        return Row(
            self.atoms + other.atoms,
            self.constraints + other.constraints,
            self.binds | other.binds,
        )

    def conjunction(self) -> Conjunction:
        """The row as a conjunction of the model."""
        return Conjunction(tuple(self.atoms), tuple(self.constraints))


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a group stands.

    `around` is what its filters see beside its own variables, `perhaps` what they would see in
    another alternative of the group around, `beyond` all that groups around EXISTS bind. What
    belongs to one `Not` alone is renamed where the group `is_inner`, since others join it.
    """

    around: Bound = NOTHING
    perhaps: Bound = NOTHING
    beyond: Bound = NOTHING
    is_inner: bool = False

    def inner(self) -> "Scope":
        """Where a group inside the group stands: its filters see nothing of what is around it."""
        return Scope(beyond=self.beyond, is_inner=True)


OUTERMOST = Scope()


class Groups:
    """Spreads the groups of one query; `fresh` makes variables that the query does not name."""

    def __init__(
        self, fresh: Callable[[], Variable], places: Mapping[Variable, int], reading: Reading
    ) -> None:
        self._fresh = fresh
        self._places = places
        self._reading = reading
        self._purse = MOST_PARTS

    def rows(self, group: Group, scope: Scope = OUTERMOST) -> list[Row]:
        """The alternatives of a group."""
        rows = [Row()]
        filters: list[Condition | Exists] = []
        tables: list[Values] = []
        below: list[Below] = []
        is_ordered = any(isinstance(element, Minus) for element in group.elements)
        for element in group.elements:
            match element:
                case Triples():
                    for row in rows:
                        row.atoms += element.patterns
                        row.binds |= element.binds
                case Condition() | Exists():
                    filters.append(element)
                case Union():
                    spread = [self.rows(each, scope.inner()) for each in element.groups]
                    rows = self._joined(rows, list(chain(*spread)), element.position)
                case Minus():
                    inner = self.rows(element.group, scope.inner())
                    for row in rows:
                        self._subtract(row, inner, scope.beyond, element.position)
                case Assigned():
                    self._assign(rows, element, scope.beyond)
                case Values() if is_ordered:
                    rows = self._joined(rows, _table(element), element.position)
                case Values():
                    tables.append(element)
                case Below():
                    below.append(element)
        for each in below:
            for row in rows:
                _narrow(row, each)
        for table in tables:
            rows = self._tabled(rows, table)
        if filters:
            anywhere = scope.perhaps.union(scope.around, *[row.binds for row in rows])
            for row in rows:
                for filter in filters:
                    self._filter(row, filter, scope, anywhere)
        return rows

    def _joined(self, rows: list[Row], others: list[Row], place: int) -> list[Row]:
        count = len(rows) * len(others)
        if count > MOST_CONJUNCTIONS:
            raise UnsupportedError(f"{count:,} alternatives; at most {MOST_CONJUNCTIONS:,}", place)
        made = [row.joined(other) for row in rows for other in others]
        self._pay(made, place)
        return made

    def _pay(self, rows: list[Row], place: int) -> None:
        self._purse -= sum(len(row.atoms) + len(row.constraints) for row in rows)
        if self._purse < 0:
            raise UnsupportedError(f"alternatives of more than {MOST_PARTS:,} parts", place)

    def _tabled(self, rows: list[Row], table: Values) -> list[Row]:
        """Rows with what VALUES says: a condition where one variable is bound by all of them."""
        if len(table.variables) == 1 and all(table.variables[0] in row.binds for row in rows):
            constants = [row[0] for row in table.rows if row[0] is not None]
            is_condition = len(constants) > 1 or self._reading is Reading.MEANING
            if is_condition and len(constants) == len(table.rows):
                expression = self._same_as_one(table.variables[0], constants)
                for row in rows:
                    row.constraints.append(expression)
                return rows
        return self._joined(rows, _table(table), table.position)

    def _same_as_one(self, variable: Variable, constants: list[Constant]) -> Expression:
        are_iris = all(isinstance(c.value, Term) and c.value.kind is Kind.IRI for c in constants)
        if are_iris or self._reading is Reading.MEANING:
            return Test(variable, OneOf(tuple(constants)))
        parts = tuple(Call("sameTerm", (variable, each)) for each in constants)
        return Or(parts) if len(parts) > 1 else parts[0]

    def _assign(self, rows: list[Row], element: Assigned, beyond: Bound) -> None:
        if element.variable in beyond:
            raise UnsupportedError(
                f"BIND of {element.variable}, which the group around EXISTS binds", element.position
            )
        for row in rows:
            row.atoms.append(Bind(element.variable, element.term))
            row.binds.add(element.variable)

    def _subtract(self, row: Row, inner: list[Row], beyond: Bound, place: int) -> None:
        for other in inner:
            is_shared = not row.binds.isdisjoint(other.binds)
            if beyond and (not is_shared or not beyond.isdisjoint(other.binds - row.binds)):
                raise UnsupportedError(
                    "MINUS inside EXISTS, but for what shares a variable with the patterns before "
                    "it and names none that only the group around binds",
                    place,
                )
            if is_shared:
                row.atoms.append(Not(self._own(other, row.binds)))

    def _filter(self, row: Row, filter: Condition | Exists, scope: Scope, anywhere: Bound) -> None:
        seen = scope.around | row.binds
        if isinstance(filter, Condition):
            row.constraints.append(self._constraint(row, filter, seen, anywhere))
            return
        inner = self.rows(filter.group, Scope(seen, anywhere, scope.beyond | anywhere))
        self._pay(inner, filter.position)
        if scope.is_inner and any(not scope.beyond.isdisjoint(r.binds - seen) for r in inner):
            raise UnsupportedError(
                "EXISTS inside a group of EXISTS, on a variable of the group around both",
                filter.position,
            )
        bodies = [self._own(each, seen) if scope.is_inner else each.conjunction() for each in inner]
        refusals = tuple(Not(body) for body in bodies)
        if filter.negated:
            row.atoms += refusals
        else:
            row.atoms.append(Not(Conjunction(refusals)))

    def _own(self, row: Row, seen: Iterable[Variable]) -> Conjunction:
        """A row as the body of a `Not`, the variables that are its own renamed."""
        own = [variable for variable in row.binds if variable not in frozenset(seen)]
        naming = {v: self._fresh() for v in sorted(own, key=str) if v in self._places}
        body = row.conjunction()
        return renamed(body, naming) if naming else body

    def _constraint(self, row: Row, filter: Condition, seen: Bound, anywhere: Bound) -> Expression:
        """A filter's expression for one row, with at least one variable, all of them bound."""
        expression = filter.expression
        named = list(variables_in(expression))
        if named and seen.issuperset(named):
            return expression
        asked = frozenset(_valued(expression))
        for variable in named:
            if variable in asked and variable not in anywhere:
                raise UnsupportedError(
                    f"{variable} in a filter, which nothing in its group binds",
                    filter.places.get(variable, filter.position),
                )
        expression = self._without(expression, seen, row)
        if any(True for _ in variables_in(expression)):
            return expression
        return self._with_a_variable(expression, row)

    def _without(self, expression: Expression, seen: Bound, row: Row) -> Expression:
        """The expression where variables that are not bound are errors, or false to `bound`."""

        def made(part: Expression) -> Expression:
            match part:
                case Call("bound", (Variable() as variable,)):
                    return part if variable in seen else Constant(FALSE, Reading.EXACT)
                case Variable() | Test():
                    variable = part if isinstance(part, Variable) else part.variable
                    return part if variable in seen else self._error(row)
                case _:
                    return part

        return _mapped(expression, made)

    def _error(self, row: Row) -> Expression:
        """An expression that is always an error: texts have no sum."""
        variable = self._standing_for(string(""), row)
        return Arithmetic(Sign.PLUS, variable, variable)

    def _with_a_variable(self, expression: Expression, row: Row) -> Expression:
        """An expression of constants with one of them as a variable, since a constraint has one."""
        found: list[Variable] = []

        def made(part: Expression) -> Expression:
            if found or not isinstance(part, Constant) or not isinstance(part.value, Term):
                return part
            found.append(self._standing_for(part.value, row))
            return found[0]

        return _mapped(expression, made)

    def _standing_for(self, term: Term, row: Row) -> Variable:
        variable = self._fresh()
        row.atoms.append(Bind(variable, term))
        row.binds.add(variable)
        return variable


def _table(values: Values) -> list[Row]:
    """The rows of VALUES; without any, one that never holds."""
    if not values.rows:
        atoms: list[Atom] = [Bind(variable, string("")) for variable in values.variables]
        return [Row([NEVER, *atoms], [], set(values.variables))]
    made = []
    for terms in values.rows:
        pairs = zip(values.variables, terms, strict=True)
        said = [(variable, each.value) for variable, each in pairs if each is not None]
        atoms = [Bind(variable, term) for variable, term in said if isinstance(term, Term)]
        made.append(Row(atoms, [], {variable for variable, _ in said}))
    return made


def _narrow(row: Row, below: Below) -> None:
    """The property of the pattern that has the variable is any that is ⊑ the one asked for."""
    patterns = [
        atom
        for atom in row.atoms
        if isinstance(atom, TriplePattern) and atom.property == below.variable
    ]
    if len(patterns) != 1:
        raise UnsupportedError(
            f"rdfs:subPropertyOf* from {below.variable}, which is no pattern's property in its "
            "group",
            below.position,
        )
    (pattern,) = patterns
    place = row.atoms.index(pattern)
    row.atoms[place] = TriplePattern(pattern.subject, below.property, pattern.object)
    row.binds.discard(below.variable)


def _valued(expression: Expression) -> Iterable[Variable]:
    """The variables of an expression whose value is asked for: all but those of `bound`."""
    match expression:
        case Call("bound", _):
            return ()
        case Variable():
            return (expression,)
        case Test():
            return (expression.variable,)
        case _:
            return [v for part in _operands(expression) for v in _valued(part)]


def _operands(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case And() | Or():
            return expression.parts
        case Call():
            return expression.arguments
        case Arithmetic() | Comparison():
            return (expression.left, expression.right)
        case Opposite(part) | Negation(part):
            return (part,)
        case _:
            return ()


def _mapped(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with every part changed, from the whole to its leaves; what was changed is
    not looked into again."""
    changed = change(expression)
    if changed is not expression:
        return changed
    match expression:
        case And() | Or():
            return type(expression)(tuple(_mapped(part, change) for part in expression.parts))
        case Call("bound", _):
            return expression
        case Call():
            parts = tuple(_mapped(part, change) for part in expression.arguments)
            return Call(expression.function, parts)
        case Arithmetic():
            left, right = _mapped(expression.left, change), _mapped(expression.right, change)
            return Arithmetic(expression.sign, left, right)
        case Comparison():
            left, right = _mapped(expression.left, change), _mapped(expression.right, change)
            return Comparison(expression.relation, left, right)
        case Opposite():
            return Opposite(_mapped(expression.operand, change))
        case Negation():
            return Negation(_mapped(expression.part, change))
        case _:
            return expression
