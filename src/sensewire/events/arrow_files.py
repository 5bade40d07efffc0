"""Files and cells in Arrow's own formats, opened: the IPC file (Feather is one) and the stream.

What a batch says of its buffers is checked before anybody reads them: a broken one could otherwise
lead beyond its memory.
"""

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyarrow import ipc

ROWS_AT_ONCE = 16_384
"""Rows of a batch, at most."""

Choice = Callable[[pa.Schema], list[str]]
"""Which columns of a schema are read."""

_Reader = ipc.RecordBatchFileReader | ipc.RecordBatchStreamReader
_FILE = b"ARROW1"
_OLD_FEATHER = b"FEA1"


def ipc_schema(file: pa.NativeFile) -> pa.Schema:
    """The schema of an Arrow file."""
    return _reader(file, None).schema


def ipc_batches(file: pa.NativeFile, choice: Choice | None = None) -> Iterator[pa.RecordBatch]:
    """The batches of an Arrow file or stream, with the columns chosen, none of too many rows."""
    fields = None
    if choice is not None:
        schema = ipc_schema(file)
        names = set(choice(schema))
        fields = [place for place, name in enumerate(schema.names) if name in names]
        file.seek(0)
    reader = _reader(file, fields)
    for batch in _batches(reader):
        batch.validate(full=True)
        for start in range(0, len(batch), ROWS_AT_ONCE):
            yield batch.slice(start, ROWS_AT_ONCE)


def _batches(reader: _Reader) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, ipc.RecordBatchFileReader):
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)
    else:
        yield from reader


def _reader(file: pa.NativeFile, fields: list[int] | None) -> _Reader:
    options = ipc.IpcReadOptions(use_threads=False, included_fields=fields)
    beginning = bytes(file.read(len(_FILE)))
    file.seek(0)
    if beginning == _FILE:
        return ipc.open_file(file, options=options)
    if beginning.startswith(_OLD_FEATHER):
        raise pa.ArrowInvalid("Feather of version 1; write it as version 2, which Arrow IPC is")
    return ipc.open_stream(file, options=options)
