"""What patterns ask for as lines of JSON and back: asked again in the same order, all has the same
numbers.

Cost: a line for each different constant, condition and property, written and read.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from sensewire.knowledge.knowledge import Knowledge
from sensewire.match.compiled.graph_expressions import Part
from sensewire.match.compiled.graph_vocabulary import Vocabulary
from sensewire.model.conditions import Between, Order, Variable
from sensewire.model.errors import IndexFolderError
from sensewire.model.written import (
    condition_from,
    condition_to,
    constant_from,
    constant_to,
    expression_from,
    expression_to,
    term_from,
    term_to,
)


def lines_of(vocabulary: Vocabulary) -> Iterator[str]:
    """All that was asked for, in the order in which it was."""
    for asked in vocabulary.asked:
        yield orjson.dumps(_written(asked)).decode()


def _written(asked: tuple[Any, ...]) -> list[Any]:
    kind, *rest = asked
    match kind, rest:
        case (("test" | "tried"), (condition,)):
            return [kind, condition_to(condition)]
        case (("same" | "strictly"), (term,)):
            return [kind, term_to(term)]
        case "constrained", (variable, constraint, strict):
            return [kind, variable.name, expression_to(constraint), strict]
        case "between", (condition, strict):
            return [kind, condition_to(condition), strict]
        case "many", (parts, strict):
            return [kind, [list(part) for part in parts], strict]
        case "property", (constant, strict):
            return [kind, constant_to(constant), strict]
        case _:
            return [kind, *rest]


def vocabulary_from(lines: Iterable[str], knowledge: Knowledge) -> Vocabulary:
    """A vocabulary that was asked for the same."""
    vocabulary = Vocabulary(knowledge)
    for line in lines:
        _ask(vocabulary, orjson.loads(line))
    return vocabulary


def _ask(vocabulary: Vocabulary, line: list[Any]) -> None:
    kind, *rest = line
    match kind:
        case "test":
            vocabulary.test(condition_from(rest[0]))
        case "tried":
            vocabulary.tried(condition_from(rest[0]))
        case "same":
            vocabulary.same(term_from(rest[0]))
        case "strictly":
            vocabulary.strictly(term_from(rest[0]))
        case "constrained":
            vocabulary.constrained(Variable(rest[0]), expression_from(rest[1]), rest[2])
        case "not":
            vocabulary.not_test(rest[0])
        case "between":
            condition = condition_from(rest[0])
            assert isinstance(condition, Order | Between)
            vocabulary.between(condition, rest[1])
        case "many":
            vocabulary.calculated([Part(*part) for part in rest[0]], rest[1])
        case "property":
            vocabulary.property_of(constant_from(rest[0]), rest[1])
        case "any":
            vocabulary.any_property()
        case "facts":
            vocabulary.of_facts()
        case "everything":
            vocabulary.everything()
        case _:
            raise IndexFolderError(f"the index asks for {kind!r}, which nobody knows")
