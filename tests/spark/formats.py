"""One set of events in every format that is read, with something to reject in each of them.

    FORMATS["nq.gz"](folder)      writes the events to a folder, as compressed N-Quads

The id of an event ends in its number, whatever the format: `e7`, `urn:e7`, `e7.ttl`.
"""

import gzip
import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

Record = dict[str, Any]

KNOWLEDGE = {
    "plants.yaml": (
        "synonyms: {price: [cost]}\n"
        "hierarchy: {oak: plant}\n"
        "mappings:\n"
        "  - {name: yearly, inputs: [salary, months], "
        'outputs: {yearly salary: "salary * 12 / months"}}\n'
        '  - {name: endless, inputs: [counter], outputs: {counter: "counter + 1"}}\n'
    ),
    "factories.yaml": "hierarchy: {sawmill: plant}\n",
}
SUBSCRIPTIONS = {
    "laptops": "product = laptop and price <= 60",
    "prices": "select ?p where price = ?p and ?p > 40",
    "near": "price <= 10 within 0.5",
    "zürich": "city prefix 'Zü' and not closed = true",
    "green": 'topic = "plants:plant"',
    "rich": '"yearly salary" > 9',
    "rich or near": '"yearly salary" > 9 or price < 5',
    "pages": "(?page, project, ?what)",
    "a page": "select ?what where (?page, project, ?what) and (?page, price, ?n) and ?n > 50",
    "unasked": "weight > 1000000 and fill exists and nothing exists",  # so all columns are read
    "all": "everything",
}
EVENTS = 63


def records() -> list[Record]:
    """Flat records, so that each format can say them."""
    return [{"id": f"e{number}", **_facts(number)} for number in range(EVENTS)]


def _facts(number: int) -> Record:
    match number % 9:
        case 0:
            return {"product": "laptop", "price": number}
        case 1:
            return {"cost": number, "fill": "日本😀" * number}
        case 2:
            return {"city": "Zürich", "closed": number % 2 == 0}
        case 3:
            return {"topic": "oak" if number % 2 else "plant"}
        case 4:
            return {"salary": 1, "months": number % 2}  # by 0 it fails
        case 5:
            return {"project": f"p{number}", "price": number}
        case 6:
            return {"counter": number}  # which the engine rejects
        case 7:
            return {"price": 10.25, "project": "a"}
        case _:
            return {"nothing": "to see"}


def _lines(texts: Iterable[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def _json(item: object) -> str:
    return json.dumps(item, ensure_ascii=False)


def _json_lines() -> bytes:
    texts = [_json(record) for record in records()]
    texts[7:7] = ["no JSON, é", "", "5"]
    return _lines(texts)[:-1]


def _cloud_events() -> bytes:
    """Some of them as batches, one of which has a member that is no event."""

    def event(record: Record) -> Record:
        head = {"specversion": "1.0", "id": record["id"], "source": "/s", "type": "t"}
        return {**head, "data": {name: record[name] for name in record if name != "id"}}

    made = [event(record) for record in records()]
    texts = [_json(each) for each in made[:30]]
    batches = [made[first : first + 3] for first in range(30, len(made), 3)]
    texts += [_json(batch) for batch in batches[:-1]]
    texts += [_json([*batches[-1], {"specversion": "1.0", "id": "x"}]), '{"specversion": "0.1"}']
    return _lines(texts)


def _table() -> pa.Table:
    """The records as columns; the last row has a time that is none."""
    made = [*records(), {"id": "late", "seen": "never"}]
    names = {name: None for record in made for name in record}
    return pa.table({name: [record.get(name) for record in made] for name in names})


def _packed() -> pa.Table:
    whole = _table()
    cells: list[bytes | None] = []
    for first in range(0, whole.num_rows, 10):
        sink = io.BytesIO()
        with ipc.new_stream(sink, whole.schema) as writer:
            writer.write_table(whole.slice(first, 10))
        cells.append(sink.getvalue())
    cells[3:3] = [b"no stream", None]
    return pa.table({"packed": pa.array(cells, pa.binary())})


def _literal(value: Any) -> str:
    return _json(value) if isinstance(value, str) else _typed(value)


def _typed(value: Any) -> str:
    kind = {bool: "boolean", int: "integer", float: "decimal"}[type(value)]
    return f'"{_json(value)}"^^<http://www.w3.org/2001/XMLSchema#{kind}>'


def _statements(record: Record) -> list[str]:
    subject = f"<http://x/s{record['id']}>"
    return [
        f"{subject} <http://x/{name}> {_literal(value)}"
        for name, value in record.items()
        if name != "id"
    ]


def _nquads() -> bytes:
    fine = "<http://x/a> <http://x/b> <http://x/c>"
    bad = [f"{fine} <urn:broken> .", "<http://x/a> oops .", "# nothing", f"{fine} ."]
    texts: list[str] = []
    for number, record in enumerate(records()):
        texts += bad if number == 20 else []
        texts += [f"{statement} <urn:{record['id']}> ." for statement in _statements(record)]
    return _lines(texts)


def _trig() -> bytes:
    graphs = [
        f"<urn:{record['id']}> {{ {' . '.join(_statements(record))} }}" for record in records()
    ]
    return _lines([*graphs[:20], '<http://x/a> <http://x/price> "5" .', *graphs[20:]])


def _documents(folder: Path) -> None:
    for record in records():
        text = _lines(f"{statement} ." for statement in _statements(record))
        (folder / f"{record['id']}.ttl").write_bytes(text)
    (folder / "broken.ttl").write_text("<http://x/a>\n oops .")
    (folder / "a.xls").write_text("a,b")


def _payloads(folder: Path) -> None:
    for record in records():
        facts = {name: value for name, value in record.items() if name != "id"}
        (folder / f"{record['id']}.txt").write_text("a text")
        (folder / f"{record['id']}.txt.json").write_text(_json(facts))
    (folder / "bad.txt").write_text("a text")
    (folder / "bad.txt.json").write_text("no facts")


def _arrow(folder: Path) -> None:
    whole = _table()
    with ipc.new_file(str(folder / "e.arrow"), whole.schema) as file:
        file.write_table(whole, max_chunksize=10)


FORMATS: dict[str, Callable[[Path], object]] = {
    "jsonl": lambda folder: (folder / "e.jsonl").write_bytes(_json_lines()),
    "cloudevents": lambda folder: (folder / "c.jsonl").write_bytes(_cloud_events()),
    "json": lambda folder: (folder / "e.json").write_text(_json([*records(), 5])),
    "parquet": lambda folder: parquet.write_table(_table(), folder / "e.parquet", row_group_size=5),
    "packed": lambda folder: parquet.write_table(_packed(), folder / "p.parquet", row_group_size=2),
    "arrow": _arrow,
    "jsonl.gz": lambda folder: (folder / "z.jsonl.gz").write_bytes(gzip.compress(_json_lines())),
    "nq": lambda folder: (folder / "e.nq").write_bytes(_nquads()),
    "nq.gz": lambda folder: (folder / "z.nq.gz").write_bytes(gzip.compress(_nquads())),
    "trig": lambda folder: (folder / "e.trig").write_bytes(_trig()),
    "documents": _documents,
    "payloads": _payloads,
}
"""How a set of events is written, by format."""

_USUAL = ("jsonl", "nq", "parquet", "documents", "payloads", "packed")
SOME = [name if name in _USUAL else pytest.param(name, marks=pytest.mark.long) for name in FORMATS]
"""The formats as parameters of a test: those that are like another are tried in long runs."""


def write(format: str, folder: Path) -> Path:
    """Write the events to a new folder."""
    folder.mkdir(parents=True)
    FORMATS[format](folder)
    return folder


def write_asked(folder: Path) -> tuple[Path, tuple[Path, ...]]:
    """Write subscriptions and knowledge to a folder."""
    texts = ({"id": id, "text": text} for id, text in SUBSCRIPTIONS.items())
    (folder / "s.jsonl").write_bytes(_lines(map(_json, texts)))
    for name, text in KNOWLEDGE.items():
        (folder / name).write_text(text)
    return folder / "s.jsonl", tuple(folder / name for name in KNOWLEDGE)
