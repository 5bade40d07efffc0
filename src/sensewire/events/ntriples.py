"""A document of N-Triples as one event: scanned, where every line of it is plain.

Any line that the scanner finds odd has pyoxigraph read the whole document, as it does all other
syntaxes: what it says decides. Cost: linear in the bytes.
"""

import numpy as np

from sensewire.events import rdf
from sensewire.events.decoding import Decoded, Decoding, Outcome, Rejected
from sensewire.events.nquads_scanner import Kept, Scanned, Scanner
from sensewire.events.scanning import PADDING
from sensewire.model.errors import EventError
from sensewire.model.event import Event, Fact, distinct
from sensewire.model.home import home_vertex

_LINE_END = b"\n"


def document(
    raw: bytes, file: str, id: str, decoding: Decoding, kept: Kept | None = None
) -> Outcome:
    """A document as one event, with the id given; without the facts that `kept` refuses."""
    scanned = _scanned(raw)
    if scanned is None:
        return rdf.document(raw, "nt", file, id, decoding)
    facts = _facts(scanned)
    home = home_vertex(facts)
    try:
        time = decoding.time_in(facts, home)
    except EventError as error:
        return Rejected(f"{file}:1", raw, str(error))
    if kept is not None:
        names = {fact.property.text for fact in facts}
        wanted = {name for name in names if kept(name)}
        facts = tuple([fact for fact in facts if fact.property.text in wanted])
    return Decoded(f"{file}:1", raw, Event(id, time, facts, home))


def _scanned(raw: bytes) -> Scanned | None:
    """The statements of a document; None where a line of it is odd."""
    lines = raw if raw.endswith(_LINE_END) or not raw else raw + _LINE_END
    scanned = Scanner(has_graphs=False).scan(bytearray(lines + bytes(PADDING)), len(lines))
    return None if scanned.odd_rows() else scanned


def _facts(scanned: Scanned) -> tuple[Fact, ...]:
    found, rows = scanned.statements, scanned.rows
    columns = [column[:rows] for column in (found.subject, found.property, found.object)]
    codes = np.unique(np.concatenate(columns)).tolist()
    terms = {code: scanned.dictionary.term(code) for code in codes}
    parts = [[terms[code] for code in column.tolist()] for column in columns]
    return distinct(map(Fact, *parts))
