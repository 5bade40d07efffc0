"""A history of events in many formats, and what subscriptions receive of it, by the plain way."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from sensewire.engine import Engine
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding
from sensewire.events.files import listing, slices
from sensewire.spark.replay import Received
from sensewire.spark.tally import Example, place_order

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
DECODING = Decoding(NOW, time_field="at")
SUBSCRIPTIONS = {
    "laptops": "product = laptop",
    "cheap": "price <= 20",
    "prices": "select ?p where price = ?p and ?p > 10",
    "zürich": "city prefix 'Zü' or file.name = 'photo.jpg'",
    "nothing": "product = unicorn",
}
PLACES = ("Zürich", "Zug", "Bern")


def record(number: int) -> dict[str, Any]:
    """One of many records, on one of a few days, or on none."""
    day = date(2024, 2, 27) + timedelta(days=number * 7 % 5)
    record: dict[str, Any] = {"price": number % 40, "product": ("laptop", "phone")[number % 2]}
    if number % 4:
        record["at"] = f"{day}T{number % 24:02}:30:00{('Z', '', '+02:00')[number % 3]}"
    return record | ({"city": PLACES[number % 3]} if number % 5 else {})


def write_history(folder: Path, names: Sequence[str]) -> None:
    """Write files of these names."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(_content(Path(name)))


def _content(name: Path) -> bytes:
    match name.suffix:
        case ".jsonl":
            lines = [json.dumps(record(number)) for number in range(90)]
            context = {"specversion": "1.0", "source": "/s", "type": "t"}
            batch = [
                {**context, "id": str(n), "time": f"2024-02-{20 + n}T10:00:00Z", "data": record(n)}
                for n in range(4)
            ]
            return "\n".join([*lines[:40], json.dumps(batch), "bad", *lines[40:]]).encode()
        case ".json":
            return json.dumps([record(number) for number in range(12)], indent=1).encode()
        case ".nq":
            quads = (
                f'<http://x/e> <http://x/{key}> "{value}" <http://x/g{number}> .\n'
                for number in range(40)
                for key, value in record(number).items()
            )
            return "".join(quads).encode()
        case ".parquet":
            sink = pa.BufferOutputStream()
            table = pa.Table.from_pylist([record(number) for number in range(60)])
            parquet.write_table(table, sink, row_group_size=9)
            return sink.getvalue().to_pybytes()
        case ".ttl":
            return b'<http://x/e> <http://x/price> 7 ; <http://x/at> "2024-03-02" .'
        case ".csv":
            names = ("price", "product", "at", "city")
            rows = [[str(record(n).get(name, "")) for name in names] for n in range(50)]
            return "\n".join(map(",".join, (names, *rows))).encode()
        case ".rss":
            items = (
                "".join(f"<{key}>{value}</{key}>" for key, value in record(number).items())
                for number in range(20)
            )
            text = "".join(f"<item>{item}</item>\n" for item in items)
            return f"<rss><channel>{text}</channel></rss>".encode()
        case ".xml":
            return b"<offer><price>8</price><at>2024-03-02</at></offer>"
        case suffix:
            assert suffix == ".jpg"
            return bytes(range(256))


def expected(path: Path, engine: Engine, examples: int) -> list[Received]:
    """What each subscription receives, from the plain decoder, event by event."""
    received: dict[str, list[Example]] = {id: [] for id, _ in engine.subscriptions()}
    for file in listing([path]).files:
        for part in slices(file, 10**9):
            for outcome in decode(part, DECODING):
                if isinstance(outcome, Decoded):
                    for match in engine.match(outcome.event):
                        received[match.subscription].append(_example(outcome))
    return [_received(id, each, examples) for id, each in received.items()]


def _example(outcome: Decoded) -> Example:
    time = outcome.event.time
    day = None if time == NOW else time.astimezone(UTC).date().isoformat()
    return Example(day, outcome.place, outcome.event.id, "")


def _received(id: str, some: list[Example], examples: int) -> Received:
    some.sort(key=lambda each: place_order(each.place))
    some.sort(key=lambda each: each.day or "", reverse=True)
    counts = Counter(each.day for each in some)
    days = {day: counts[day] for day in sorted(counts, key=lambda day: day or "")}
    return Received(id, len(some), days, tuple(some[:examples]))
