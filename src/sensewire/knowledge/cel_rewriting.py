"""From the tree of a CEL expression to CEL that the evaluator runs, checked on the way.

Arithmetic becomes calls: `a + 2.5` is handed over as `_add(a, 2.5)`. Names that begin with `_` are
ours alone, so that no input can stand in their way. What is refused here is refused when the
knowledge is loaded, with a caret under the place, and not when the first event comes.

Each part of the tree is written once and counted once: how many values could it hold, lists within
lists included? A list holds what its parts hold; `list.map(x, body)` at most what the list holds
times what the body holds for an x of one value, as no body holds more than n times that for an x
of n values. So `[1].map(x, [x, x]).map(x, [x, x])…`, which doubles with every step, is found out
without running it. Cost: linear in the text.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sensewire.knowledge import cel_names
from sensewire.knowledge.cel_functions import MOST_VALUES, scale_of
from sensewire.model import patterns
from sensewire.model.errors import KnowledgeError, pointed_at

if TYPE_CHECKING:
    from lark import Token, Tree

    Branch = Token | Tree[Token]

EVENT_FIELDS = {"time": "_time", "id": "_id"}
"""What `event` has, and the variable that holds it: a map would double the cost of a run."""
_OPERATORS = {"+": "_add", "-": "_subtract", "*": "_multiply", "/": "_divide", "%": "_remainder"}
_MOST_STEPS = 500
"""Steps of the programs of all regular expressions; a search takes that many times the text."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """CEL for the evaluator: what it reads, which of our functions it calls, what it may make."""

    source: str
    variables: frozenset[str]
    functions: frozenset[str]
    values: int  # the most that any part of it can hold


class _Part(NamedTuple):
    source: str
    values: int


def rewritten(text: str, tree: "Tree[Token]", inputs: Collection[str]) -> Rewritten:
    """The expression `text`, whose tree is given, over the inputs named."""
    rewriting = _Rewriting(text, frozenset(inputs))
    source = rewriting.written(tree).source
    return Rewritten(
        source, frozenset(rewriting.variables), frozenset(rewriting.functions), rewriting.most
    )


class _Rewriting:
    """What is known of an expression while its tree is written."""

    def __init__(self, text: str, inputs: frozenset[str]) -> None:
        self.variables: set[str] = set()
        self.functions: set[str] = set()
        self.most = 1
        self._text = text
        self._inputs = inputs
        self._variable: str | None = None  # the macro's whose body is being written
        self._mentions = 0  # of that variable
        self._steps = 0

    def written(self, node: "Branch") -> _Part:
        """A part of the tree in CEL, with the number of values that it may hold."""
        assert not isinstance(node, str)
        part = self._written(node)
        self._count(part.values, node)
        return part

    def _count(self, values: int, node: "Branch") -> None:
        self.most = max(self.most, values)
        if values > MOST_VALUES:
            raise self._wrong(_place(node), f"could make more than {MOST_VALUES:,} values")

    def _written(self, node: "Tree[Token]") -> _Part:
        match str(node.data), node.children:
            case "constant" | "text", [word]:
                self._value(word)
                return _Part(str(word), 1)
            case "number", [word]:
                return _Part(self._number(word, ""), 1)
            case "name", [word]:
                return _Part(self._name(word), 1)
            case "group", [inner]:
                part = self.written(inner)
                return _Part(f"({part.source})", part.values)
            case "negated", [inner]:
                return _Part(f"!{self.written(inner).source}", 1)
            case "minus", [_, inner]:
                return self._minus(inner)
            case "calculated", [left, sign, right]:
                parts = [self.written(left), self.written(right)]
                held = _together(parts) if str(sign) == "+" else 1  # no other sign is for lists
                return _Part(self._ours(_OPERATORS[str(sign)], parts), held)
            case "related", [left, relation, right]:
                parts = [self.written(left), self.written(right)]
                return _Part(f"{parts[0].source} {relation} {parts[1].source}", 1)
            case "either" | "both" as chain, operands:
                parts = [self.written(operand) for operand in operands]
                joint = " || " if chain == "either" else " && "
                return _Part(joint.join(part.source for part in parts), 1)
            case "choice", [condition, left, right]:
                asked, yes, no = map(self.written, (condition, left, right))
                source = f"{asked.source} ? {yes.source} : {no.source}"
                return _Part(source, max(yes.values, no.values))
            case "list", items:
                parts = [self.written(item) for item in items]
                return _Part(f"[{_listed(parts)}]", max(1, _together(parts)))
            case "map", items:
                parts = [self.written(item) for item in items]
                entries = zip(parts[::2], parts[1::2], strict=True)
                source = ", ".join(f"{key.source}: {value.source}" for key, value in entries)
                return _Part(f"{{{source}}}", max(1, _together(parts)))
            case "item", [holder, index]:
                part = self.written(holder)
                return _Part(f"{part.source}[{self.written(index).source}]", part.values)
            case "field", [holder, word]:
                return self._field(holder, word)
            case "call", [word, *values]:
                return self._call(word, values)
            case "method", [holder, word, *values]:
                return self._method(holder, word, values)
        raise AssertionError(node.data)

    def _number(self, word: "Branch", sign: str) -> str:
        digits, kind = str(word).lower(), getattr(word, "type", "")
        if kind == "FLOAT":
            fits = math.isfinite(float(digits))
        else:
            value = int(digits.removesuffix("u"), 16 if digits.startswith("0x") else 10)
            fits = value < (2**64 if kind == "UINT" else 2**63 + len(sign))
        if not fits:
            raise self._wrong(_place(word), "a number of more than 64 bits")
        return sign + digits

    def _name(self, word: "Branch") -> str:
        name = str(word)
        if name == self._variable:
            self._mentions += 1
            return name
        if name in self._inputs:
            self.variables.add(name)
            return name
        if name == "event":
            raise self._wrong(_place(word), "expected event.time or event.id")
        if name in cel_names.RESERVED:
            raise self._wrong(_place(word), f"{name} is a reserved word; expected a value")
        if name not in cel_names.TYPES:
            known = {*self._inputs, "event", *filter(None, (self._variable,))}
            raise self._wrong(
                _place(word), f"unknown name {name}; {cel_names.nearest(name, known)}"
            )
        return name

    def _minus(self, inner: "Branch") -> _Part:
        assert not isinstance(inner, str)
        if inner.data == "number":  # the least integer is written with its sign or not at all
            number = inner.children[0]
            if getattr(number, "type", "") != "UINT":
                return _Part(self._number(number, "-"), 1)
        return _Part(self._ours("_negate", [self.written(inner)]), 1)

    def _field(self, holder: "Branch", word: "Branch") -> _Part:
        if _is_name(holder, "event"):
            if str(word) not in EVENT_FIELDS:
                raise self._wrong(_place(word), f"event has no {word}; expected time or id")
            self.variables.add(EVENT_FIELDS[str(word)])
            return _Part(EVENT_FIELDS[str(word)], 1)
        if str(word) in cel_names.NO_FIELDS:
            raise self._wrong(_place(word), f"{word} is a reserved word; expected a field")
        part = self.written(holder)
        return _Part(f"{part.source}.{word}", part.values)

    def _call(self, word: "Branch", values: "list[Branch]") -> _Part:
        name = str(word)
        if name not in cel_names.CALLS:
            raise self._no_function(
                word, f"list.{name}" if name in cel_names.MACROS else f"value.{name}"
            )
        self._expect_values(word, (cel_names.CALLS[name],), values)
        if name == "has":
            self._expect_field(values[0])
        if name == "convert":
            self._expect_unit(values[1])
        parts = [self.written(value) for value in values]
        held = parts[0].values if name == "dyn" else 1
        if name in cel_names.OURS:
            return _Part(self._ours(f"_{name}", parts), held)
        part = _Part(f"{name}({_listed(parts)})", held)
        checked = {"timestamp": "_utc", "duration": "_span"}.get(name)
        return part if checked is None else _Part(self._ours(checked, [part]), 1)

    def _method(self, holder: "Branch", word: "Branch", values: "list[Branch]") -> _Part:
        name = str(word)
        if name in cel_names.MACROS:
            return self._macro(self.written(holder), word, values)
        if name not in cel_names.METHODS:
            raise self._no_function(word, name)
        self._expect_values(word, (cel_names.METHODS[name],), values)
        if name == "matches":
            self._expect_pattern(values[0])
        parts = [self.written(part) for part in (holder, *values)]
        if name in cel_names.OURS:
            return _Part(self._ours(f"_{name}", parts), 1)
        return _Part(f"{parts[0].source}.{name}({_listed(parts[1:])})", 1)

    def _macro(self, holder: _Part, word: "Branch", values: "list[Branch]") -> _Part:
        if self._variable is not None:
            raise self._wrong(_place(word), f"{word} stands inside another macro; expected none")
        self._expect_values(word, cel_names.MACROS[str(word)], values)
        variable, *bodies = values
        self._variable, self._mentions = self._fresh(variable), 0
        before, self.most = self.most, 1
        parts = [self.written(body) for body in bodies]
        # While it runs, each mention of x may hold all that the list does, and was counted as one.
        self._count(self.most + self._mentions * (holder.values - 1), word)
        self.most = max(before, self.most)
        source = f"{holder.source}.{word}({self._variable}, {_listed(parts)})"
        self._variable = None
        if str(word) == "map":
            return _Part(source, holder.values * parts[-1].values)
        return _Part(source, holder.values if str(word) == "filter" else 1)

    def _fresh(self, variable: "Branch") -> str:
        """The name of a macro's variable, which stands for nothing else."""
        name = "" if isinstance(variable, str) else str(variable.children[0])
        if (
            not _is_name(variable, name)
            or cel_names.problem_with_name(name)
            or name in self._inputs
        ):
            raise self._wrong(_place(variable), "expected a new name, for one of the list")
        return name

    def _ours(self, name: str, parts: Iterable[_Part]) -> str:
        self.functions.add(name)
        return f"{name}({_listed(parts)})"

    def _expect_values(
        self, word: "Branch", takes: tuple[int, ...], values: "list[Branch]"
    ) -> None:
        if len(values) not in takes:
            number = " or ".join(map(str, takes))
            plural = "" if takes == (1,) else "s"
            message = f"{word} takes {number} value{plural}, not {len(values)}"
            raise self._wrong(_place(word), message)

    def _expect_field(self, value: "Branch") -> None:
        if isinstance(value, str) or value.data != "field" or _is_name(value.children[0], "event"):
            raise self._wrong(_place(value), "expected a field of a map, such as has(map.field)")

    def _expect_unit(self, value: "Branch") -> None:
        unit = self._text_in(value)
        if unit is not None and scale_of(unit) is None:
            raise self._wrong(_place(value), f"no such unit: {unit}")

    def _expect_pattern(self, value: "Branch") -> None:
        """A pattern is known when it is loaded: one that events could send has no bound."""
        pattern = self._text_in(value)
        if pattern is None:
            raise self._wrong(_place(value), "expected a regular expression in quotes")
        problem = patterns.problem_with(pattern)
        if problem is not None:
            raise self._wrong(_place(value), f"no regular expression: {problem}")
        self._steps += patterns.compiled(pattern).programsize
        if self._steps > _MOST_STEPS:
            raise self._wrong(_place(value), "too large a regular expression, or too many of them")

    def _text_in(self, node: "Branch") -> str | None:
        """The text that a literal writes; None for what is no such literal."""
        if isinstance(node, str) or node.data != "text":
            return None
        return str(self._value(node.children[0]))

    def _value(self, word: "Branch") -> object:
        """What the evaluator reads in a literal; some escapes are refused by it alone."""
        import cel

        try:
            return cel.evaluate(str(word))
        except ValueError:
            raise self._wrong(_place(word), "an escape that stands for no character") from None

    def _no_function(self, word: "Branch", called: str) -> KnowledgeError:
        name = str(word)
        if name in cel_names.CALLS:
            return self._wrong(_place(word), f"expected {name}(…)")
        if name in cel_names.FUNCTIONS:
            return self._wrong(_place(word), f"expected {called}(…)")
        return self._wrong(
            _place(word), f"unknown function {name}; {cel_names.nearest(name, cel_names.FUNCTIONS)}"
        )

    def _wrong(self, position: int, message: str) -> KnowledgeError:
        return KnowledgeError(pointed_at(self._text, position, message))


def _is_name(node: "Branch", name: str) -> bool:
    return not isinstance(node, str) and node.data == "name" and str(node.children[0]) == name


def _listed(parts: Iterable[_Part]) -> str:
    return ", ".join(part.source for part in parts)


def _together(parts: Iterable[_Part]) -> int:
    return sum(part.values for part in parts)


def _place(node: "Branch") -> int:
    start = node.start_pos if isinstance(node, str) else node.meta.start_pos
    assert start is not None
    return start
