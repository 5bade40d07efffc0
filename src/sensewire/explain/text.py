"""An explanation as plain text for a terminal: the verdict, then one line for each condition.

A line holds a mark, what was asked, and beside it what answered: the fact, the way through the
knowledge, asked against actual. What does not fit goes on below, in the same column. Everything
that comes from an event is made visible and cut, so that the length is bounded by the number of
conditions.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from sensewire.explain.explanation import (
    Alternative,
    Evidence,
    Explanation,
    Miss,
    Outcome,
    Part,
    Source,
    Step,
)
from sensewire.explain.wording import (
    MARKS,
    MOST_INPUTS,
    MOST_ROWS,
    Wording,
    columns,
    cut,
    in_order,
    more,
    remarks,
    verdict,
    visible,
    way_from,
    wording_of,
)
from sensewire.model.terms import HOME, Term

_WIDEST = 100
_ASKED = 40  # what was asked stands beside its answer up to here, else above it
_SAID = 160
_DEEPEST = 3


def as_text(explanation: Explanation) -> str:
    """An explanation for a terminal.

    >>> held = Part("price <= 5", Outcome.YES, notes=("as asked",))
    >>> missed = Part("colour = red", Outcome.NO, miss=Miss("the event has no colour"))
    >>> both = Alternative(Outcome.NO, (held, missed))
    >>> print(as_text(Explanation("anna", "", "e1", Outcome.NO, (both,))))
    no: e1 does not match anna
      ✓ price <= 5    as asked
      ✗ colour = red  the event has no colour
    """
    wording = wording_of(explanation)
    alternatives = in_order(explanation)
    asked = [_asked(part.text) for each in alternatives for part in each.parts]
    margin = 4 + max((columns(text) for text in asked if columns(text) <= _ASKED), default=10) + 2
    lines = [verdict(explanation)]
    for number, alternative in enumerate(alternatives):
        lines += ["  or"] if number else []
        lines += _alternative(alternative, margin, wording)
    left_out = len(explanation.alternatives) - len(alternatives)
    lines += [f"  or {more(left_out, 'alternative')}"] if left_out else []
    lines += _rows(explanation, wording)
    return "\n".join(lines)


def _asked(text: str) -> str:
    return cut(visible(text), _WIDEST - 4)


def _alternative(alternative: Alternative, margin: int, wording: Wording) -> Iterator[str]:
    if not alternative.parts and alternative.note is None:
        yield f"  {MARKS[alternative.outcome]} nothing is asked"
    for part in alternative.parts:
        yield from _line(part.outcome, _asked(part.text), _answer(part, wording), margin)
    if alternative.note is not None:
        said = [cut(visible(alternative.note), _SAID)]
        yield from _line(alternative.outcome, "together", said, margin)


def _line(outcome: Outcome, asked: str, said: Iterable[str], margin: int) -> Iterator[str]:
    """What was asked and what answered, beside each other."""
    line = f"  {MARKS[outcome]} {asked}"
    answer = list(_filled(dict.fromkeys(said), _WIDEST - 1 - margin))  # nothing is told twice
    if answer and columns(line) <= margin - 2:
        line += " " * (margin - columns(line)) + answer.pop(0)
    yield line
    yield from (" " * margin + more_of_it for more_of_it in answer)


def _filled(said: Iterable[str], width: int) -> Iterator[str]:
    """Sayings in lines; a break comes between two of them if it can, else between words."""
    line = ""
    for saying in said:
        if line and columns(line) + 2 + columns(saying) > width:
            yield f"{line};"
            line = ""
        line += "; " if line else ""
        for number, word in enumerate(cut(word, width - 3) for word in saying.split(" ")):
            if number and columns(line) + 1 + columns(word) > width:
                yield line
                line = f"  {word}"
            else:
                line += f" {word}" if number else word
    if line:
        yield line


def _answer(part: Part, wording: Wording) -> Iterator[str]:
    for evidence in part.evidence:
        yield from _evidence(evidence, part.text, wording)
    if part.miss is not None:
        yield from _miss(part.miss, wording)
    for remark in remarks(part):
        yield cut(visible(remark), _SAID)


def _evidence(evidence: Evidence, asked: str, wording: Wording) -> Iterator[str]:
    fact = evidence.source.fact
    told = _source(evidence.source, wording)
    name = f"{wording.name(fact.property)}: "
    if evidence.source.function is not None and asked.startswith(f"{name[:-2]} "):
        told = told.removeprefix(name)  # the event does not say that name, and the line begins so
    yield told
    for sent, steps in ((fact.property, evidence.attribute), (fact.object, evidence.value)):
        if steps:
            yield _way(*way_from(sent, steps), wording)
    if evidence.compared is not None:
        yield cut(visible(evidence.compared), _SAID)


def _way(sent: Term, steps: tuple[Step, ...], wording: Wording) -> str:
    """A way in a sentence: laptop is a kind of portable → computer."""
    clauses = []
    for link, along in groupby(steps, key=lambda step: step.link):
        clauses.append(f"{link.value} " + " → ".join(wording.name(step.term) for step in along))
    return f"{wording.name(sent)} " + ", which ".join(clauses)


def _source(source: Source, wording: Wording, depth: int = 0) -> str:
    """A fact, and the function and inputs that it comes from."""
    said = wording.fact(source.fact)
    if source.function is None:
        return said
    said += f", by {cut(visible(source.function), _ASKED)}"
    if not source.inputs:
        return said
    if depth == _DEEPEST:
        return f"{said} from …"
    inputs = [_source(each, wording, depth + 1) for each in source.inputs[:MOST_INPUTS]]
    inputs = [f"({each})" if ", by " in each else each for each in inputs]
    left_out = len(source.inputs) - len(inputs)
    inputs += [more(left_out, "input")] if left_out else []
    return f"{said} from {' and '.join(inputs)}"


def _miss(miss: Miss, wording: Wording) -> Iterator[str]:
    why = cut(visible(miss.why), _SAID)
    nearest = miss.nearest
    if nearest is None:
        yield why
    elif _begins_with_value(why, nearest, wording):
        yield f"{wording.name(nearest.fact.property)}: {why}"
    else:
        yield _source(nearest, wording)
        yield why
    remedy = wording.remedy(miss)
    if remedy is not None:
        yield cut(visible(remedy), _SAID)


def _begins_with_value(why: str, nearest: Source, wording: Wording) -> bool:
    """Whether a reason may stand in the place of the value: `price: 1700 is 100 too much`."""
    fact = nearest.fact
    if fact.subject != HOME or nearest.function is not None:
        return False
    forms = (fact.object.text, wording.value(fact.object), repr(fact.object.text))
    return any(why.startswith(f"{form} ") for form in forms)


def _rows(explanation: Explanation, wording: Wording) -> Iterator[str]:
    rows = [row for row in explanation.rows if row]
    for row in rows[:MOST_ROWS]:
        yield "  → " + ", ".join(wording.binding(name, term) for name, term in row)
    if len(rows) > MOST_ROWS:
        yield f"  → {more(len(rows) - MOST_ROWS, 'row')}"
