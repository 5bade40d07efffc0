"""Expressions of mapping functions in CEL: checked when they are loaded, then run in microseconds.

    text → tree (cel.lark) → checked and rewritten (cel_rewriting) → a program of the evaluator

The evaluator is the Rust crate `cel`, behind the package common-expression-language. It shows no
tree, so the grammar is ours. Arithmetic runs in `cel_functions`, everything else in the evaluator.

Invariant: an expression that `compiled` returns ends soon, whatever it is given, and never brings
the process down. Its length, its depth, its regular expressions and the number of values that it
can make are bounded when it is loaded; the length of texts is bounded when it runs. Cost of a run:
some 3 µs.
"""

import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

from sensewire.knowledge import cel_functions
from sensewire.knowledge.cel_functions import (
    LONGEST_TEXT,
    EvaluationError,
    in_64_bits,
    type_name,
    utc,
)
from sensewire.knowledge.cel_rewriting import EVENT_FIELDS, rewritten
from sensewire.model.errors import KnowledgeError, pointed_at

if TYPE_CHECKING:
    from cel import Program
    from lark import Lark, Token, Tree
    from lark.exceptions import UnexpectedInput

LONGEST = 2_000
"""Characters of an expression."""
DEEPEST = 50
"""Operators, calls and brackets inside one another; the evaluator's parser recurses."""
# All texts that one expression can hold at once have at most this many characters.
_MOST_CHARACTERS = 4 * LONGEST_TEXT

_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "_add": cel_functions.add,
    "_convert": cel_functions.convert,
    "_date": cel_functions.date,
    "_divide": cel_functions.divide,
    "_matches": cel_functions.matches,
    "_multiply": cel_functions.multiply,
    "_negate": cel_functions.negate,
    "_remainder": cel_functions.remainder,
    "_size": cel_functions.size,
    "_span": cel_functions.span,
    "_subtract": cel_functions.subtract,
    "_utc": cel_functions.utc,
}
_PLAIN = frozenset({bool, float, timedelta, type(None)})
_HINTS = {"=": "==", "&": "&&", "|": "||", "and": "&&", "or": "||", "not": "!"}
_CLOSING = {"RPAR": ")", "RSQB": "]", "RBRACE": "}", "COLON": ":"}


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression ready to run: its text, and the names that it reads (`event` is one)."""

    text: str
    names: frozenset[str]
    _inputs: tuple[str, ...] = field(compare=False, repr=False)
    _event: tuple[tuple[str, str], ...] = field(compare=False, repr=False)
    _longest: int = field(compare=False, repr=False)
    _functions: Mapping[str, Callable[..., object]] = field(compare=False, repr=False)
    _program: "Program" = field(compare=False, repr=False)

    def evaluate(self, values: Mapping[str, object]) -> object:
        """The expression's value; `event` is given as a dict with `time` and `id`.

        >>> compiled("price * 1.5", ["price"]).evaluate({"price": 3})
        4.5
        """
        context: dict[str, object] = dict(self._functions)
        for name in self._inputs:
            context[name] = self._taken(values[name])
        for key, variable in self._event:
            event = values["event"]
            assert isinstance(event, dict)
            context[variable] = self._taken(event[key])
        try:
            return self._program.execute(context)
        except BaseException as error:
            # A panic of Rust's is no Exception; like any other failure it is this expression's own.
            if isinstance(error, Exception) or type(error).__name__ == "PanicException":
                raise EvaluationError(_reason(error)) from None
            raise

    def _taken(self, value: object) -> object:
        """The value, if it is one and not too long; lists would escape the count of values."""
        if type(value) is str:
            if len(value) > self._longest:
                raise EvaluationError(f"a text of more than {self._longest:,} characters")
            return value
        if type(value) is int:
            return in_64_bits(value)
        if isinstance(value, datetime):
            return utc(value)
        if type(value) in _PLAIN:
            return value
        raise EvaluationError(f"no value for an expression: {type_name(value)}")


def compiled(text: str, names: Collection[str]) -> Expression:
    """The expression that `text` writes over the inputs `names` and `event`.

    >>> sorted(compiled("event.time.getFullYear() - graduation", ["graduation"]).names)
    ['event', 'graduation']
    >>> compiled("graduaton + 1", ["graduation"])
    Traceback (most recent call last):
    ...
    sensewire.model.errors.KnowledgeError: graduaton + 1
    ^ unknown name graduaton; did you mean graduation?
    """
    return _compiled(text, tuple(names))


@lru_cache(maxsize=4_096)
def _compiled(text: str, names: tuple[str, ...]) -> Expression:
    compile_program = _evaluator()
    found = rewritten(text, _tree_of(text), names)
    longest = min(LONGEST_TEXT, _MOST_CHARACTERS // found.values)
    functions = {name: _FUNCTIONS[name] for name in found.functions}
    if "_add" in functions:
        functions["_add"] = partial(cel_functions.add, longest)
    event = tuple([pair for pair in EVENT_FIELDS.items() if pair[1] in found.variables])
    inputs = tuple(found.variables.difference(EVENT_FIELDS.values()))
    read = frozenset((*inputs, "event") if event else inputs)
    program = compile_program(found.source)
    return Expression(text, read, inputs, event, longest, functions, program)


@cache
def _evaluator() -> "Callable[[str], Program]":
    """The evaluator's compiler, imported by the first expression."""
    import cel

    # It logs a warning whenever a function of ours fails; a failure is reported by who asked.
    logging.getLogger("cel").setLevel(logging.CRITICAL)
    return cel.compile


@cache
def _grammar() -> "Lark":
    from lark import Lark

    return Lark.open(
        "cel.lark",
        rel_to=__file__,
        parser="lalr",
        maybe_placeholders=False,
        propagate_positions=True,
    )


def _tree_of(text: str) -> "Tree[Token]":
    """The tree of a text by the grammar; the parser keeps its own stack, so no depth recurses."""
    from lark.exceptions import UnexpectedInput

    if len(text) > LONGEST:
        raise _wrong(text, LONGEST, f"an expression has at most {LONGEST:,} characters")
    try:
        text.encode()
        tree = _grammar().parse(text)
    except UnicodeEncodeError as error:
        raise _wrong(text, error.start, "half of a character; expected a whole one") from None
    except UnexpectedInput as error:
        raise _in_words(text, error) from None
    _check_depth(text, tree)
    return tree


def _check_depth(text: str, tree: "Tree[Token]") -> None:
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise _wrong(text, node.meta.start_pos, f"nested deeper than {DEEPEST}")
        waiting += [(child, depth + 1) for child in node.children if not isinstance(child, str)]


def _in_words(text: str, error: "UnexpectedInput") -> KnowledgeError:
    """The parser's complaint: what stands there, and what could."""
    from lark.exceptions import UnexpectedToken

    if not isinstance(error, UnexpectedToken):
        position = error.pos_in_stream or 0
        if text[position] in "'\"":
            return _wrong(text, position, "a text that does not end, or has an unknown escape")
        return _wrong(text, position, _unexpected(text[position]))
    if error.token.type != "$END":
        position = error.token.start_pos or 0
        if error.token in _HINTS:
            return _wrong(text, position, _unexpected(error.token))
    else:
        position = len(text)
    accepted = error.accepts or error.expected
    if "INT" in accepted:
        return _wrong(text, position, "expected a value")
    if "NAME" in accepted:
        return _wrong(text, position, "expected a name")
    closing = [sign for name, sign in _CLOSING.items() if name in accepted]
    return _wrong(text, position, " or ".join(["expected an operator", *closing]))


def _unexpected(word: str) -> str:
    hint = f"; CEL writes {_HINTS[word]}" if word in _HINTS else ""
    return f"unexpected {word}{hint}"


def _wrong(text: str, position: int, message: str) -> KnowledgeError:
    return KnowledgeError(pointed_at(text, position, message))


_FAILED_CALL = re.compile(
    r"Function '_?(\w+)' error: (?:Python function call failed: )?(EvaluationError: )?(.*?)"
    r"\.?(?: Check function arguments and their types\.| The value is outside .*)?",
    re.DOTALL,
)


def _reason(error: BaseException) -> str:
    """The evaluator's complaint in one short sentence."""
    message = str(error)
    if isinstance(error, KeyError):
        return f"no such key: {error.args[0]}"[:200]
    failed = _FAILED_CALL.fullmatch(message)
    if failed is not None:
        function, ours, what = failed.groups()
        return (what if ours else f"{function}: {what}")[:200]
    missing = re.match(r"Undefined variable or function: '(\w+)'", message)
    if missing is not None:  # names were checked when it was loaded: it has no form for these types
        return f"no such overload: {missing.group(1)}"
    sentence = re.split(r"(?:\.|: the operation) ", message, maxsplit=1)[0].rstrip(".")
    return (sentence[:1].lower() + sentence[1:])[:200]
