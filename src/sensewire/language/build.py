"""From the tree of a text to a formula, one method a rule of the grammar.

Trees are folded from their leaves, without recursion. Cost: one visit of each node.
"""

from dataclasses import dataclass

from lark import Token, Tree

from sensewire.language.comparisons import SPELLINGS, Comparisons
from sensewire.language.formula import All, Check, Formula, NoneOf, all_of, any_of, refusal_of
from sensewire.language.parts import Group, Named, Part
from sensewire.language.values import Form, Value, exactly
from sensewire.model.conditions import (
    Between,
    Constant,
    Exists,
    IsA,
    IsAbove,
    IsDirectlyA,
    OneOf,
    Variable,
)
from sensewire.model.expressions import ARITIES, FUNCTIONS, Arithmetic, Call, Minus, Sign
from sensewire.model.subscription import Bind, Home, OperatorCall, TriplePattern, Vertex
from sensewire.model.terms import Term

_FUNCTIONS = {name.lower(): name for name in FUNCTIONS}


def formula_of(tree: Tree[Token], comparisons: Comparisons) -> Formula:
    """The formula that the tree of a disjunction says."""
    builder = Builder(comparisons)
    built: dict[int, Part] = {}
    for subtree in tree.iter_subtrees():
        children = [built[id(c)] if isinstance(c, Tree) else c for c in subtree.children]
        built[id(subtree)] = getattr(builder, subtree.data)(*children)
    return comparisons.truth(built[id(tree)])


@dataclass(frozen=True, slots=True)
class Builder:
    """One method a rule: what the rule's children make together."""

    _of: Comparisons

    def any(self, *parts: Part) -> Formula:
        formulas = [self._of.truth(part) for part in parts]
        return any_of(formulas, formulas[0].position)

    def all(self, *parts: Part) -> Formula:
        formulas = [self._of.truth(part) for part in parts]
        return all_of(formulas, formulas[0].position)

    def refused(self, sign: Token, part: Part) -> Formula:
        return refusal_of(self._of.truth(part), _place(sign))

    def none_of(self, sign: Token, part: Part) -> Formula:
        return NoneOf(self._of.truth(part), _place(sign))

    def everything(self, word: Token) -> Formula:
        return All((), _place(word))

    def group(self, part: Part) -> Group:
        return part if isinstance(part, Group) else Group(part, part.position)

    def compared(self, left: Part, sign: Token, right: Part) -> Formula:
        return self._of.compared(left, SPELLINGS.get(sign, str(sign)), right)

    def one_of(self, left: Part, _: Token, *parts: Part) -> Formula:
        constants = tuple([self._of.constant(part) for part in parts])
        return self._of.conditioned(left, OneOf(constants))

    def between(self, left: Part, _: Token, low: Part, high: Part) -> Formula:
        bounds = [self._of.values.bound(self._of.value(part)) for part in (low, high)]
        return self._of.conditioned(left, Between(*bounds))

    def exists(self, left: Part, _: Token) -> Formula:
        return self._of.conditioned(left, Exists())

    def text(self, left: Part, relation: Token, right: Part) -> Formula:
        return self._of.conditioned(left, self._of.text(str(relation), right))

    def is_a(self, left: Part, _: Token, right: Part) -> Formula:
        return self._of.conditioned(left, IsA(self._of.constant(right)))

    def is_directly_a(self, left: Part, _: Token, right: Part) -> Formula:
        return self._of.conditioned(left, IsDirectlyA(self._of.constant(right)))

    def is_above(self, left: Part, _: Token, right: Part) -> Formula:
        return self._of.conditioned(left, IsAbove(self._of.constant(right)))

    def bind(self, word: Token, variable: Token, _: Token, part: Part) -> Formula:
        term = self._of.values.term(self._of.value(part, "a term"), "a term")
        return self._of.atom(Bind(Variable(str(variable[1:])), term), _place(word))

    def calculated(self, left: Part, sign: Token, right: Part) -> Formula:
        operands = [self._of.expression(part) for part in (left, right)]
        return Check(Arithmetic(Sign(sign), *operands), left.position)

    def minus(self, sign: Token, part: Part) -> Part:
        if isinstance(part, Value) and part.form is Form.NUMBER and not part.exactly:
            return self._of.values.negative(part, _place(sign))
        return Check(Minus(self._of.expression(part)), _place(sign))

    def exactly(self, word: Token, part: Part) -> Value:
        value = self._of.value(part, "a name or a constant, which `exactly` stands before")
        if value.exactly:
            raise self._of.values.wrong(_place(word), "`exactly` once")
        return exactly(value)

    def variable(self, token: Token) -> Named:
        return Named(Variable(str(token[1:])), _place(token))

    def word(self, token: Token) -> Value:
        return self._of.values.word(str(token), _place(token))

    def ticked(self, token: Token) -> Value:
        return self._of.values.ticked(str(token), _place(token))

    def iri(self, token: Token) -> Value:
        return self._of.values.iri(str(token), _place(token))

    def string(self, token: Token) -> Value:
        return self._of.values.string(str(token), _place(token))

    def language(self, token: Token, tag: Token) -> Value:
        return self._of.values.language(str(token), _place(token), str(tag))

    def typed(self, token: Token, datatype: Token) -> Value:
        values = self._of.values
        return values.typed(str(token), _place(token), str(datatype), _place(datatype))

    def number(self, token: Token) -> Value:
        return self._of.values.number(str(token), _place(token))

    def quantity(self, token: Token) -> Value:
        return self._of.values.quantity(str(token), _place(token))

    def date(self, token: Token) -> Value:
        return self._of.values.date(str(token), _place(token))

    def pattern(self, subject: Part, middle: Part, object_: Part) -> Formula:
        pattern = TriplePattern(self._vertex(subject), self._end(middle), self._vertex(object_))
        return self._of.atom(pattern, subject.position)

    def call(self, token: Token, *parts: Part) -> Formula:
        place = _place(token)
        name = str(token)
        if token.type == "TICKED":
            name = self._of.values.ticked(name, place).term.text
        function = _FUNCTIONS.get(name.lower())
        if function is None:
            arguments = tuple([self._end(part) for part in parts])
            return self._of.atom(OperatorCall(name, arguments), place)
        if len(parts) not in ARITIES[function]:
            counts = " or ".join(str(count) for count in ARITIES[function])
            what = "argument" if ARITIES[function] == (1,) else "arguments"
            raise self._of.values.wrong(place, f"{counts} {what} for {function}, not {len(parts)}")
        if function == "bound" and not isinstance(parts[0], Named):
            raise self._of.values.wrong(place, "a variable in bound, such as bound(?x)")
        return Check(Call(function, tuple([self._of.expression(part) for part in parts])), place)

    def _end(self, part: Part) -> Variable | Constant:
        if isinstance(part, Named):
            return part.variable
        return self._of.values.constant(self._of.value(part, "a variable or a constant"))

    def _vertex(self, part: Part) -> Vertex:
        match part:
            case Value(form=Form.HOME) | Value(form=Form.WORD, term=Term(text="home")) if not (
                part.exactly
            ):
                return Home()
            case _:
                return self._end(part)


def _place(token: Token) -> int:
    assert token.start_pos is not None
    return token.start_pos
