"""An explanation as one SVG that stands by itself: asked on the left, the facts on the right.

Between them runs the way through the knowledge, broader terms towards what was asked:

    [✓ product = computer]---(computer)<-is a kind of-(laptop)---[product: "laptop"]
    [✗ price <= 1600     ]- - - - - - 100 too much - - - - - - - [price: 1700      ]

Rows lie below each other, and each is as high as its highest column, so that every line between two
columns is level and nothing can overlap. Texts are measured by a generous estimate, for the font is
the reader's; what does not fit is cut, and stands in full in the `title` of its element. No ids,
scripts, styles or links, so that several drawings can stand in one page; the drawing paints its own
background, and says by the form of a mark what it says by its colour.
"""

from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise

from sensewire.explain.canvas import (
    CODE,
    FACT,
    FUNCTION,
    KNOWN,
    LABEL,
    LOOKS,
    PLAIN,
    PROSE,
    TITLE,
    Canvas,
    Look,
    wrapped,
)
from sensewire.explain.explanation import (
    Alternative,
    Evidence,
    Explanation,
    Miss,
    Part,
    Source,
    Step,
)
from sensewire.explain.text import as_text
from sensewire.explain.wording import (
    LONGEST,
    MOST_INPUTS,
    MOST_ROWS,
    Wording,
    cut,
    in_order,
    more,
    remarks,
    verdict,
    visible,
    way_from,
    wording_of,
)
from sensewire.model.terms import Term

_WIDTH, _MARGIN, _GAP = 900.0, 16.0, 8.0
_ASKED, _MIDDLE, _FACTS = (16.0, 244.0), (262.0, 638.0), (656.0, 884.0)
_BETWEEN = _MIDDLE[1] - _MIDDLE[0]
_NODE, _NODE_HEIGHT = 144.0, 24.0  # two nodes and the longest link always fit between the columns
_NODE_COLUMNS = 17
_LEAST = 28.0
_VALUE = 27  # columns, so that a name or a value fills a line of its box
_MOST_NOTES = 6
Piece = tuple[float, Callable[[float], None]]  # a height, and what draws it from there down


def as_svg(explanation: Explanation) -> str:
    """An explanation as an SVG document, 900 wide and as high as it needs.

    >>> from sensewire.explain.explanation import Outcome
    >>> drawn = as_svg(Explanation("anna", "everything", "e1", Outcome.YES, ()))
    >>> drawn[:5], "<title>yes: e1 matches anna</title>" in drawn
    ('<svg ', True)
    """
    wording = wording_of(explanation)
    canvas = Canvas()
    y = _head(canvas, explanation)
    alternatives = in_order(explanation)
    for number, alternative in enumerate(alternatives):
        y = _or(canvas, y, "or") if number else y
        y = _alternative(canvas, alternative, y, wording)
    left_out = len(explanation.alternatives) - len(alternatives)
    y = _or(canvas, y, f"or {more(left_out, 'alternative')}") if left_out else y
    height = _rows(canvas, explanation, y, wording) + _MARGIN - _GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH:g}" '
        f'height="{height:g}" viewBox="0 0 {_WIDTH:g} {height:g}">'
        f"<title>{escape(verdict(explanation))}</title><desc>{escape(as_text(explanation))}</desc>"
        f'<rect x=".5" y=".5" width="{_WIDTH - 1:g}" height="{height - 1:g}" rx="8" fill="#fff" '
        f'stroke="#c9ced6"/>{"".join(canvas.elements)}</svg>\n'
    )


def _head(canvas: Canvas, explanation: Explanation) -> float:
    """The verdict, the whole subscription, and what the columns are."""
    right = _WIDTH - _MARGIN
    canvas.mark(explanation.outcome, _MARGIN + 9, 27)
    y = canvas.prose((_MARGIN + 26, right), 16, verdict(explanation), TITLE, most=2)
    y = canvas.prose((_MARGIN, right), y + 4, visible(explanation.text), CODE, most=3)
    y += 10
    canvas.line(_MARGIN, y, right, y, "#e1e4e8")
    for column, name in ((_ASKED, "asked"), (_MIDDLE, "known"), (_FACTS, "facts of the event")):
        bottom = canvas.prose(column, y + 8, name, LABEL, most=1)
    return bottom + 6


def _or(canvas: Canvas, y: float, words: str) -> float:
    y += 4
    bottom = canvas.prose(_ASKED, y, words, PROSE, most=1)
    canvas.line(_ASKED[0] + PROSE.measured(words) + 8, y + 7, _FACTS[1], y + 7, "#c9ced6")
    return bottom + 12


def _alternative(canvas: Canvas, alternative: Alternative, y: float, wording: Wording) -> float:
    nothing = None if alternative.parts else "nothing is asked"
    for part in alternative.parts:
        y = _part(canvas, part, y, wording) + 14
    note = alternative.note or nothing
    if note is None:
        return y
    across = (_ASKED[0], _FACTS[1])
    lines = wrapped(visible(note), _FACTS[1] - _ASKED[0] - 48, PROSE, 3)
    height = canvas.box(
        across, y, lines, PROSE, LOOKS[alternative.outcome], note, least=30, left=36
    )
    canvas.mark(alternative.outcome, _ASKED[0] + 18, y + height / 2)
    return y + height + 14


def _part(canvas: Canvas, part: Part, top: float, wording: Wording) -> float:
    """A condition: what answered it, and on the left, as high as all of that, the condition."""
    look = LOOKS[part.outcome]
    y = top
    for evidence in part.evidence:
        if not _is_missed(evidence, part.miss):
            y = _evidence(canvas, evidence, y, wording) + _GAP
    if part.miss is not None:
        y = _miss(canvas, part.miss, y, look, wording) + _GAP
    y += 0 if part.evidence or part.miss else 7  # notes alone stand level with what was asked
    notes = remarks(part)
    for note in notes[:_MOST_NOTES]:
        y = canvas.prose(_MIDDLE, y, visible(note), PROSE, 4, "middle") + 4
    if len(notes) > _MOST_NOTES:
        y = canvas.prose(_MIDDLE, y, more(len(notes) - _MOST_NOTES, "note"), PROSE, 1, "middle") + 4
    lines = wrapped(visible(part.text), _ASKED[1] - _ASKED[0] - 46, CODE, 5)
    title = f"{part.outcome.value}: {part.text}"
    height = canvas.box(
        _ASKED, top, lines, CODE, look, title, least=max(y - _GAP - top, _LEAST), left=36
    )
    canvas.mark(part.outcome, _ASKED[0] + 18, top + height / 2)
    return max(y - _GAP, top + height)


def _is_missed(evidence: Evidence, miss: Miss | None) -> bool:
    """Whether the miss shows the same fact, and says more of it."""
    if miss is None or miss.nearest is None or evidence.source.fact != miss.nearest.fact:
        return False
    return not (evidence.attribute or evidence.value or evidence.compared)


def _evidence(canvas: Canvas, evidence: Evidence, y: float, wording: Wording) -> float:
    fact = evidence.source.fact
    pieces = _chain(canvas, *way_from(fact.property, evidence.attribute), wording)
    pieces += _chain(canvas, *way_from(fact.object, evidence.value), wording)
    if evidence.compared is not None:
        pieces.append(_said(canvas, evidence.compared, PLAIN, right=_FACTS[0]))
    return _answered(canvas, evidence.source, pieces, y, wording)


def _miss(canvas: Canvas, miss: Miss, y: float, look: Look, wording: Wording) -> float:
    """The nearest fact at the end of a dashed line, the reason on it, the remedy below."""
    end = None if miss.nearest is None else _FACTS[0]
    pieces = [_said(canvas, miss.why, look.dashed(), right=end)]
    remedy = wording.remedy(miss)
    if remedy is not None:
        remedy = visible(remedy)
        height = PROSE.leading * len(wrapped(remedy, _BETWEEN, PROSE, 4))
        words = remedy
        pieces.append((height, lambda top: _below(canvas, top, words)))
    return _answered(canvas, miss.nearest, pieces, y, wording)


def _below(canvas: Canvas, top: float, words: str) -> None:
    canvas.prose(_MIDDLE, top, words, PROSE, 4, "middle")


def _answered(
    canvas: Canvas, source: Source | None, pieces: Sequence[Piece], y: float, wording: Wording
) -> float:
    """A source on the right, and level with it the pieces that lead to what was asked."""
    needed = sum(height + _GAP for height, _ in pieces) - _GAP if pieces else 0.0
    height, bottom = needed, y + needed
    if source is not None:
        height, bottom = _source(canvas, source, y, needed, wording)
    if not pieces:
        canvas.line(_ASKED[1], y + height / 2, _FACTS[0], y + height / 2)
    top = y + (height - needed) / 2
    for piece_height, draw in pieces:
        draw(top)
        top += piece_height + _GAP
    return bottom


def _source(
    canvas: Canvas, source: Source, y: float, needed: float, wording: Wording
) -> tuple[float, float]:
    """A fact, at least as high as needed, and below it the function that made it, if one did."""
    title, said = wording.fact(source.fact, LONGEST), wording.fact(source.fact, _VALUE)
    lines = wrapped(said, _FACTS[1] - _FACTS[0] - 16, CODE, 4)
    if source.function is None:
        height = canvas.box(_FACTS, y, lines, CODE, FACT, title, least=max(needed, _LEAST))
        return height, y + height
    level = max(needed, 16.0 * len(lines) + 10, _LEAST)
    made = canvas.box(_FACTS, y, lines, CODE, FACT.dashed(), title, least=level + 14)
    return level, _function(canvas, source, y + made, wording)


def _function(canvas: Canvas, source: Source, above: float, wording: Wording) -> float:
    """A function, an arrow from it up to what it made, and its inputs on its right."""
    top = y = above + _GAP
    inputs = [_by(each, wording) for each in source.inputs[:MOST_INPUTS]]
    left_out = len(source.inputs) - len(inputs)
    inputs += [more(left_out, "input")] if left_out else []
    for said in inputs:
        lines = wrapped(said, _FACTS[1] - _FACTS[0] - 16, CODE, 5)
        height = canvas.box(_FACTS, y, lines, CODE, FACT, said)
        canvas.line(_MIDDLE[1] - 10, y + height / 2, _FACTS[0], y + height / 2)
        y += height + _GAP
    name = visible(f"by {source.function}")
    column = (_MIDDLE[1] - 10 - _NODE, _MIDDLE[1] - 10)
    lines = wrapped(name, _NODE - 16, CODE, 3)
    height = canvas.box(column, top, lines, CODE, FUNCTION, name, least=y - _GAP - top)
    centre = (column[0] + column[1]) / 2
    canvas.line(centre, top, centre, above - 7, FUNCTION.stroke)
    canvas.arrow(centre, _FACTS[0], above - 7, FUNCTION.stroke)
    return max(y - _GAP, top + height)


def _by(source: Source, wording: Wording) -> str:
    """An input in words; how it was made itself is told by name."""
    said = wording.fact(source.fact, _VALUE)
    return said if source.function is None else visible(f"{said}, by {source.function}")


def _said(canvas: Canvas, words: str, look: Look, right: float | None) -> Piece:
    """Words on a line from what was asked, to a fact where there is one."""
    lines = wrapped(visible(words), _BETWEEN - 16, PROSE, 4)
    height = PROSE.leading * len(lines) + 9
    spare = (_BETWEEN - 16 - max(map(PROSE.measured, lines))) / 2
    column = (_MIDDLE[0] + spare, _MIDDLE[1] - spare)

    def draw(top: float) -> None:
        middle = top + height / 2
        canvas.line(_ASKED[1], middle, column[0], middle, look.stroke, look.dash)
        if right is not None:
            canvas.line(column[1], middle, right, middle, look.stroke, look.dash)
        canvas.box(column, top, lines, PROSE, look, words, least=height, left=None)

    return height, draw


def _chain(canvas: Canvas, sent: Term, steps: Sequence[Step], wording: Wording) -> list[Piece]:
    """A way through the knowledge, in as many lanes as it needs; each begins where one ended."""
    if not steps:
        return []
    nodes = [wording.name(step.term) for step in reversed(steps)] + [wording.name(sent)]
    links = [step.link.value for step in reversed(steps)]
    ends = [0]
    used = _width(nodes[0])
    for place, (node, link) in enumerate(zip(nodes[1:], links, strict=True), 1):
        used += _length(link) + _width(node)
        if used > _BETWEEN:
            ends.append(place - 1)
            used = _width(nodes[place - 1]) + _length(link) + _width(node)
    ends.append(len(nodes) - 1)

    def lane(first: int, last: int) -> Piece:
        def draw(top: float) -> None:
            right = last == len(nodes) - 1
            _lane(canvas, top, nodes[first : last + 1], links[first:last], (first == 0, right))

        return _NODE_HEIGHT, draw

    return [lane(first, last) for first, last in pairwise(ends)]


def _width(node: str) -> float:
    return min(CODE.measured(cut(node, _NODE_COLUMNS)) + 16, _NODE)


def _length(link: str) -> float:
    return max(LABEL.measured(link) + 14, 44.0)


def _lane(
    canvas: Canvas, top: float, nodes: Sequence[str], links: Sequence[str], open: tuple[bool, bool]
) -> None:
    """Nodes on one line, in the middle; `open` are the ends that go on to a column."""
    y = top + _NODE_HEIGHT / 2
    spare = _BETWEEN - sum(map(_width, nodes)) - sum(map(_length, links))
    alone = open == (True, True)
    x = _MIDDLE[0] + (spare / 2 if alone else 0)
    longer = 0.0 if alone else spare / len(links)
    if open[0]:
        canvas.line(_ASKED[1], y, x, y)
    for number, node in enumerate(nodes):
        look = KNOWN if number or open[0] else KNOWN.dashed()
        end = x + _width(node)
        lines = wrapped(cut(node, _NODE_COLUMNS), _width(node) - 16, CODE, 1)
        canvas.box((x, end), top, lines, CODE, look, node, left=None)
        x = end
        if number < len(links):
            end = x + _length(links[number]) + longer
            canvas.arrow(end, x, y)
            canvas.words((x + end) / 2 + 2, y - 4, links[number], LABEL, anchor="middle")
            x = end
    if open[1]:
        canvas.line(x, y, _FACTS[0], y)


def _rows(canvas: Canvas, explanation: Explanation, y: float, wording: Wording) -> float:
    """What the answer carries."""
    rows = [row for row in explanation.rows if row]
    said = [", ".join(wording.binding(*pair) for pair in row) for row in rows[:MOST_ROWS]]
    said += [more(len(rows) - MOST_ROWS, "row")] if len(rows) > MOST_ROWS else []
    if said:
        y = canvas.prose((_MARGIN, _WIDTH - _MARGIN), y, "answer", LABEL, most=1) + 4
    for line in said:
        y = canvas.prose((_MARGIN, _WIDTH - _MARGIN), y, line, CODE, most=2) + 4
    return y
