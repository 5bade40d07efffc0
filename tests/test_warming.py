"""The story of all kernels: told with no compiler where the cache has them, and with no thread."""

import os
import subprocess
import sys
from pathlib import Path

COMPILED = """
from numba.core import event
from sensewire import warming
with event.install_recorder("numba:compile") as recorder:
    complete = warming.load_kernels()
import threading
print(complete, len(recorder.buffer), threading.active_count())
"""


def told(variables: dict[str, str]) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", COMPILED],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split()


def test_what_the_cache_has_is_loaded() -> None:
    warm = [sys.executable, "-m", "sensewire.cli.main", "warm"]
    subprocess.run(warm, check=True, capture_output=True)
    assert told({}) == ["True", "0", "1"]


def test_what_the_cache_has_not_is_not_compiled(tmp_path: Path) -> None:
    complete, _, threads = told({"NUMBA_CACHE_DIR": str(tmp_path)})
    assert (complete, threads) == ("False", "1")
    assert not list(tmp_path.rglob("*.nbc"))


PATTERNS = """
from datetime import UTC, datetime
from numba.core import event
from sensewire import warming
assert warming.load_kernels()
from sensewire.engine import Engine
from sensewire.events.decoding import Decoding
from sensewire.events.files import held_slice
from sensewire.events.kinds import Kind
from sensewire.events.portions import portions
from sensewire.language.parse import parse
from sensewire.model.event import Event
engine = Engine()
for number in range(50):
    engine.add(parse(f"(?a, <urn:r>, ?b) and (?b, <urn:s>, ?c) and (?c, <urn:t>, {number})"))
engine.add(parse("(?a, ?p, ?b) and (?b, <urn:s>, ?a) injective"))
said = ["<urn:a> <urn:r> _:b", "_:b <urn:s> <urn:c>", '<urn:c> <urn:t> "7"']
said += [f"<urn:{n}> <urn:u> <urn:{n + 1}>" for n in range(80)]
with event.install_recorder("numba:compile") as recorder:
    found = []
    for count in (3, 83):
        lines = [f"{each} <urn:e> ." for each in said[:count]]
        part = held_slice("\\n".join(lines).encode(), Kind.NQUADS, "e.nq")
        for portion in portions([part], Decoding(datetime.now(UTC)), wanted=engine):
            found.append(engine.match_graphs(portion.graphs).matches.num_rows)
        text = "".join(f"{each} .\\n" for each in said[:count])
        found.append(len(tuple(engine.match(Event.rdf(text, format="nt")))))
print(found, len(recorder.buffer))
"""


def test_patterns_compile_nothing_more() -> None:
    """Flat ones and trees of steps, events of few vertices and of many, as columns and not."""
    run = subprocess.run(
        [sys.executable, "-c", PATTERNS], capture_output=True, text=True, check=True
    )
    assert run.stdout == "[1, 1, 1, 1] 0\n"
