"""An explanation as JSON: one object with every field of the values, keys in a fixed order.

| object | keys |
|---|---|
| the whole | subscription, text, event, outcome, matches, distance, tolerance, alternatives, rows |
| alternative | outcome, distance, note, parts |
| part | text, outcome, distance, evidence, miss, notes |
| evidence | source, attribute, value (both lists of steps), compared |
| miss | why, nearest (a source), remedy, instead (a term) |
| source | fact (subject, property, object), function, inputs (sources), inputs_left_out |
| step | link, term |
| row | a list of {name, term}, one for each selected variable |
| term | kind, text, datatype and language where it has them, n_triples |

Every key but those two is always there, null where there is nothing to tell. An outcome is `yes`,
`no` or `undecided`, a link one of the texts of `Link`. A distance without end is null, for JSON has
no infinity. Sources are nested as far as readers of JSON commonly go: deeper, `inputs` is empty and
`inputs_left_out` says how many there were; elsewhere that is 0. The order of everything is the
explanation's own. Half a surrogate pair, which no UTF-8 can hold, becomes U+FFFD.
"""

import math

from sensewire.explain.explanation import (
    Alternative,
    Evidence,
    Explanation,
    Miss,
    Part,
    Source,
    Step,
)
from sensewire.model.terms import Term

Json = str | bool | int | float | None | list["Json"] | dict[str, "Json"]
_DEEPEST = 50


def as_json(explanation: Explanation) -> str:
    """An explanation as one JSON object, indented, in UTF-8.

    >>> import json
    >>> from sensewire.explain.explanation import Outcome
    >>> found = json.loads(as_json(Explanation("anna", "a = 5", "e1", Outcome.NO, ())))
    >>> found["outcome"], found["matches"], found["alternatives"]
    ('no', False, [])
    """
    import orjson

    return orjson.dumps(_explanation(explanation), option=orjson.OPT_INDENT_2).decode()


def _explanation(explanation: Explanation) -> Json:
    return {
        "subscription": _whole(explanation.subscription),
        "text": _whole(explanation.text),
        "event": _whole(explanation.event),
        "outcome": explanation.outcome.value,
        "matches": explanation.matches,
        "distance": _finite(explanation.distance),
        "tolerance": _finite(explanation.tolerance),
        "alternatives": [_alternative(each) for each in explanation.alternatives],
        "rows": [
            [{"name": _whole(name), "term": _term(term)} for name, term in row]
            for row in explanation.rows
        ],
    }


def _alternative(alternative: Alternative) -> Json:
    return {
        "outcome": alternative.outcome.value,
        "distance": _finite(alternative.distance),
        "note": _whole(alternative.note),
        "parts": [_part(part) for part in alternative.parts],
    }


def _part(part: Part) -> Json:
    return {
        "text": _whole(part.text),
        "outcome": part.outcome.value,
        "distance": _finite(part.distance),
        "evidence": [_evidence(each) for each in part.evidence],
        "miss": None if part.miss is None else _miss(part.miss),
        "notes": [_whole(note) for note in part.notes],
    }


def _evidence(evidence: Evidence) -> Json:
    return {
        "source": _source(evidence.source),
        "attribute": _steps(evidence.attribute),
        "value": _steps(evidence.value),
        "compared": _whole(evidence.compared),
    }


def _miss(miss: Miss) -> Json:
    return {
        "why": _whole(miss.why),
        "nearest": None if miss.nearest is None else _source(miss.nearest),
        "remedy": _whole(miss.remedy),
        "instead": None if miss.instead is None else _term(miss.instead),
    }


def _source(source: Source, depth: int = 0) -> Json:
    subject, property, object = source.fact
    told = source.inputs if depth < _DEEPEST else ()
    return {
        "fact": {
            "subject": _term(subject),
            "property": _term(property),
            "object": _term(object),
        },
        "function": _whole(source.function),
        "inputs": [_source(each, depth + 1) for each in told],
        "inputs_left_out": len(source.inputs) - len(told),
    }


def _steps(steps: tuple[Step, ...]) -> Json:
    return [{"link": step.link.value, "term": _term(step.term)} for step in steps]


def _term(term: Term) -> Json:
    found: dict[str, Json] = {"kind": term.kind.value, "text": _whole(term.text)}
    if term.datatype is not None:
        found["datatype"] = _whole(term.datatype)
    if term.language is not None:
        found["language"] = _whole(term.language)
    found["n_triples"] = _whole(str(term))
    return found


def _finite(distance: float | None) -> float | None:
    return distance if distance is not None and math.isfinite(distance) else None


def _whole(text: str | None) -> str | None:
    if text is None or text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
