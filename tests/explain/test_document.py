"""Explanations as JSON: every field is there, in one shape and order, whatever they hold.

Proved by breaking, each caught: two keys in another order, one way in the place of the other, the
language left out, half a character kept, sources nested without end.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings

from sensewire.explain.document import as_json
from sensewire.explain.explanation import (
    Alternative,
    Evidence,
    Explanation,
    Link,
    Miss,
    Outcome,
    Part,
    Source,
    Step,
)
from sensewire.model.event import Fact
from sensewire.model.terms import HOME, Kind, Term, string, term_of
from tests.explain.test_drawing import explanations
from tests.explain.test_text import EXAMPLES

Read = Mapping[str, Any]

# What the module's docstring promises, key by key.
SHAPES = {
    "explanation": "subscription text event outcome matches distance tolerance alternatives rows",
    "alternative": "outcome distance note parts",
    "part": "text outcome distance evidence miss notes",
    "evidence": "source attribute value compared",
    "miss": "why nearest remedy instead",
    "source": "fact function inputs inputs_left_out",
    "fact": "subject property object",
    "step": "link term",
    "binding": "name term",
}


def keys(of: str, read: Read) -> None:
    assert " ".join(read) == SHAPES[of]


def term_in(read: Read) -> Term:
    assert list(read) == [
        key for key in ("kind", "text", "datatype", "language", "n_triples") if key in read
    ]
    term = Term(Kind(read["kind"]), read["text"], read.get("datatype"), read.get("language"))
    assert read["n_triples"] == str(term)
    return term


def source_in(read: Read) -> Source:
    keys("source", read)
    keys("fact", read["fact"])
    fact = Fact(*(term_in(term) for term in read["fact"].values()))
    assert read["inputs_left_out"] == 0
    return Source(fact, read["function"], tuple(map(source_in, read["inputs"])))


def steps_in(read: list[Read]) -> tuple[Step, ...]:
    for step in read:
        keys("step", step)
    return tuple(Step(Link(step["link"]), term_in(step["term"])) for step in read)


def evidence_in(read: Read) -> Evidence:
    keys("evidence", read)
    return Evidence(
        source_in(read["source"]),
        steps_in(read["attribute"]),
        steps_in(read["value"]),
        read["compared"],
    )


def miss_in(read: Read) -> Miss:
    keys("miss", read)
    nearest, instead = read["nearest"], read["instead"]
    return Miss(
        read["why"],
        source_in(nearest) if nearest else None,
        read["remedy"],
        term_in(instead) if instead else None,
    )


def part_in(read: Read) -> Part:
    keys("part", read)
    return Part(
        read["text"],
        Outcome(read["outcome"]),
        tuple(map(evidence_in, read["evidence"])),
        miss_in(read["miss"]) if read["miss"] else None,
        tuple(read["notes"]),
        distance_in(read),
    )


def distance_in(read: Read) -> float:
    return float("inf") if read["distance"] is None else float(read["distance"])


def alternative_in(read: Read) -> Alternative:
    keys("alternative", read)
    parts = tuple(map(part_in, read["parts"]))
    return Alternative(Outcome(read["outcome"]), parts, read["note"], distance_in(read))


def explanation_in(text: str) -> Explanation:
    """The explanation that a document tells, every key of it looked at."""
    read = json.loads(text)
    keys("explanation", read)
    for row in read["rows"]:
        for binding in row:
            keys("binding", binding)
    found = Explanation(
        read["subscription"],
        read["text"],
        read["event"],
        Outcome(read["outcome"]),
        tuple(map(alternative_in, read["alternatives"])),
        distance_in(read),
        tuple(tuple((each["name"], term_in(each["term"])) for each in row) for row in read["rows"]),
        read["tolerance"],
    )
    assert found.matches == read["matches"]
    return found


def whole(explanation: Explanation) -> bool:
    """Whether UTF-8 can hold it, and JSON its numbers."""
    return "\\ud" not in repr(explanation) and explanation.tolerance != float("inf")


@pytest.mark.parametrize("example", [name for name in EXAMPLES if whole(EXAMPLES[name])])
def test_reads_back_as_it_was(example: str) -> None:
    assert explanation_in(as_json(EXAMPLES[example])) == EXAMPLES[example]


@settings(max_examples=60, deadline=None)
@given(explanations())
def test_every_explanation_reads_back(explanation: Explanation) -> None:
    written = as_json(explanation)
    written.encode()
    if whole(explanation):
        assert explanation_in(written) == explanation
    else:
        assert json.loads(written)["outcome"] == explanation.outcome.value


def test_half_a_character_and_no_end_have_a_place_in_no_json() -> None:
    endless = Alternative(Outcome.NO, (), "half \ud800 of one", float("inf"))
    read = json.loads(as_json(Explanation("a", "", "e", Outcome.NO, (endless,))))
    assert read["alternatives"][0]["note"] == "half \ufffd of one"
    assert read["alternatives"][0]["distance"] is None


def test_a_long_derivation_says_where_it_was_left() -> None:
    source = Source(Fact(HOME, string("a"), term_of(0)))
    for number in range(300):
        source = Source(Fact(HOME, string("a"), term_of(number)), "next", (source,))
    part = Part("a = 299", Outcome.YES, (Evidence(source),))
    written = as_json(Explanation("a", "", "e", Outcome.YES, (Alternative(Outcome.YES, (part,)),)))
    read = json.loads(written)["alternatives"][0]["parts"][0]["evidence"][0]["source"]
    depth = 0
    while read["inputs"]:
        assert read["inputs_left_out"] == 0
        read, depth = read["inputs"][0], depth + 1
    assert (depth, read["inputs_left_out"]) == (50, 1)
