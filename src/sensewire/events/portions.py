"""TEMPORARY."""
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
import numpy as np, numpy.typing as npt, pyarrow as pa
from sensewire.events.decode import decode
from sensewire.events.decoding import Decoded, Decoding, Rejected, too_long
from sensewire.events.files import Kind, Slice
from sensewire.events.lines import lines_in

@dataclass(frozen=True, slots=True, eq=False)
class RecordPortion:
    batch: pa.RecordBatch
    file: str
    numbers: npt.NDArray[np.int64]
    def place(self, row: int) -> str:
        return f"{self.file}:{self.numbers[row]}"
    def raw(self, row: int) -> bytes:
        return self.batch.column(0)[row].as_py().rstrip(b"\r\n")

    def __len__(self) -> int:
        return self.batch.num_rows
    def at(self, rows):
        chosen = np.asarray(rows, np.int64)
        return RecordPortion(self.batch.take(pa.array(chosen)), self.file, self.numbers[chosen])

@dataclass(frozen=True, slots=True)
class EventPortion:
    decoded: tuple[Decoded, ...]
    def __len__(self) -> int:
        return len(self.decoded)
    def place(self, row: int) -> str:
        return self.decoded[row].place
    def raw(self, row: int) -> bytes:
        return self.decoded[row].raw
    def at(self, rows):
        return EventPortion(tuple(self.decoded[r] for r in rows))

Portion = RecordPortion | EventPortion

def portions(parts: Iterable[Slice], decoding: Decoding, *, wanted: Callable[[str], bool] | None = None) -> Iterator[RecordPortion | EventPortion | Rejected]:
    for part in parts:
        if part.file.kind is Kind.LINES:
            with open(part.file.path, "rb") as f:
                rows = [l for l in lines_in(f, part.start, part.end, first_line=part.first_line, longest=decoding.longest) if not l.is_empty]
            for l in rows:
                if l.too_long: yield Rejected(f"{part.file.name}:{l.number}", l.data, too_long(decoding.longest, len(l.data)))
            rows = [l for l in rows if not l.too_long]
            for i in range(0, len(rows), 4096):
                some = rows[i:i+4096]
                yield RecordPortion(pa.RecordBatch.from_pydict({"json": pa.array([l.data for l in some], pa.large_binary())}), part.file.name, np.array([l.number for l in some], np.int64))
        else:
            got = list(decode(part, decoding))
            yield from (o for o in got if isinstance(o, Rejected))
            yield EventPortion(tuple(o for o in got if isinstance(o, Decoded)))
