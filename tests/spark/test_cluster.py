"""The whole job on a real cluster: the answers of one machine, though a worker dies in between."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sensewire.cli import submit
from sensewire.spark.java import java_home, packaged_java
from tests.spark.cluster import HOME, Cluster, Worker, cluster
from tests.spark.commands import PATIENCE, Tables, begun, environment, matched, tables

pytestmark = pytest.mark.spark

NOW = "2024-03-01T12:00:00Z"
ROOT = Path(__file__).parents[2]
SUBSCRIPTIONS = {
    "laptops": "product = laptop and price <= 1600",
    "prices": "select ?p where price = ?p and ?p > 1990",
    "near": "price <= 10 within 0.5",
    "zürich": "city prefix 'Zü'",
    "pages": "(?page, project, ?what)",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Subscriptions, and events of three kinds, in each of them something to reject."""
    folder = tmp_path_factory.mktemp("files")
    subscriptions = [{"id": id, "text": text} for id, text in SUBSCRIPTIONS.items()]
    _write_lines(folder / "s.jsonl", [*subscriptions, {"id": "cut", "text": "price <="}])
    events = folder / "events"
    events.mkdir()
    records: list[Any] = [
        {"id": f"e{number}", "product": ("laptop", "phone")[number % 2], "price": number}
        for number in range(2_000)
    ]
    _write_lines(events / "records.jsonl", [*records, {"id": "z", "city": "Zürich"}, 5])
    graph = (
        '<http://x/g{0}> {{ <http://x/p{0}> <http://x/project> "a{0}" ; <http://x/price> {0} }}\n'
    )
    text = "".join(graph.format(number) for number in range(200))
    (events / "graphs.trig").write_text(text)
    (events / "one.ttl").write_text('<http://x/a> <http://x/project> "b" .')
    (events / "broken.ttl").write_text("<http://x/a> oops .")
    return folder


@pytest.fixture(scope="module")
def expected(folder: Path) -> Tables:
    """What this machine says."""
    run = matched(*options("local[2]", folder, "local"))
    assert run.returncode == 0, run.stderr
    found = tables(folder / "local")
    assert {row["subscription"] for row in found[0]} == set(SUBSCRIPTIONS)
    assert len(found[1]) == 3
    return found


def _write_lines(path: Path, items: list[Any]) -> None:
    path.write_text("".join(json.dumps(item) + "\n" for item in items))


def options(master: str | None, folder: Path, out: str, *more: str) -> list[str]:
    arguments = {"--subscriptions": "s.jsonl", "--events": "events", "--out": out}
    paths = [part for name, path in arguments.items() for part in (name, str(folder / path))]
    return [*paths, "--now", NOW, *(["--master", master] if master else []), *more]


@pytest.mark.long
def test_a_cluster_gives_the_answers_of_one_machine(
    standalone: Cluster, folder: Path, expected: Tables
) -> None:
    run = matched(*options(standalone.master, folder, "cluster"))
    assert (run.returncode, run.stderr) == (0, "")
    assert tables(folder / "cluster") == expected
    assert all(finished(worker) for worker in standalone.workers), "a worker had nothing to do"


@pytest.mark.long
def test_a_worker_that_dies_in_mid_job_changes_nothing(
    standalone: Cluster, folder: Path, expected: Tables
) -> None:
    first, second = standalone.workers
    before = {worker: finished(worker) for worker in (first, second)}
    run = begun(*options(standalone.master, folder, "survived", "--partitions", "60"))
    try:
        # It has done some of the job, and has begun some more.
        wait_until(lambda: finished(first) > before[first] + 2 and is_busy(first), run)
        first.kill()
        done = finished(second)
        out, errors = run.communicate(timeout=PATIENCE)
    finally:
        run.kill()
        run.wait()
        standalone.restart(first)
    assert (run.returncode, errors) == (0, "")
    assert out.startswith("2202 events, ")
    assert finished(second) > done + 2, "the job was over when the worker died"
    assert tables(folder / "survived") == expected


def test_a_master_that_cannot_be_reached_is_said_in_one_line(folder: Path) -> None:
    begin = time.monotonic()
    run = matched(*options("spark://127.0.0.1:1", folder, "nowhere"))
    assert run.returncode == 2
    assert run.stderr == (
        "sensewire: no Spark master answers at spark://127.0.0.1:1; is it running, and reachable?\n"
    )
    assert time.monotonic() - begin < 30
    assert not (folder / "nowhere").exists()


@pytest.mark.long
def test_under_spark_submit_its_master_and_settings_hold(
    standalone: Cluster, folder: Path, expected: Tables
) -> None:
    applications = names(standalone)
    given = ("--master", standalone.master, "--name", "of spark-submit")
    run = submitted(given, options(None, folder, "submitted"))
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("2202 events, ")
    assert tables(folder / "submitted") == expected
    assert names(standalone) == [*applications, "of spark-submit"]


@pytest.mark.long
def test_spark_submit_on_this_machine(folder: Path, expected: Tables) -> None:
    run = submitted(("--master", "local[2]"), options(None, folder, "submitted-here"))
    assert run.returncode == 0, run.stderr
    assert tables(folder / "submitted-here") == expected


def test_an_error_under_spark_submit_is_our_line_and_exit_code(folder: Path) -> None:
    (folder / "taken").mkdir()
    run = submitted(("--master", "local[2]"), options(None, folder, "taken"))
    assert run.returncode == 2
    # spark-submit writes to its output whatever the program wrote, to its errors too.
    [line] = [line for line in run.stdout.splitlines() if line.startswith("sensewire: ")]
    assert f"{folder / 'taken'} exists" in line


def submitted(
    settings: tuple[str, ...], arguments: list[str], **variables: str
) -> "subprocess.CompletedProcess[str]":
    """The command under the spark-submit of Spark's Python package."""
    java = str(java_home(os.environ, packaged=packaged_java()))
    return subprocess.run(
        [HOME / "bin" / "spark-submit", *settings, submit.__file__, "match", *arguments],
        env=environment(JAVA_HOME=java, PYSPARK_DRIVER_PYTHON=sys.executable, **variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def names(standing: Cluster) -> list[str]:
    """The names of the applications that a cluster has run, in their order."""
    done = standing.status()["completedapps"]
    return [each["name"] for each in sorted(done, key=lambda each: str(each["id"]))]


def finished(worker: Worker) -> int:
    """How many tasks the executors of a worker have done."""
    return sum(len(re.findall("Finished task", text)) for text in logs(worker))


def is_busy(worker: Worker) -> bool:
    return any(text.count("Running task") > text.count("Finished task") for text in logs(worker))


def logs(worker: Worker) -> Iterator[str]:
    for log in worker.folder.glob("app-*/*/stderr"):
        yield log.read_text(errors="replace")


def wait_until(true: Callable[[], bool], run: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert run.poll() is None, "the job ended before its middle was seen"
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.long
def test_executors_run_a_packed_environment(tmp_path: Path, folder: Path, expected: Tables) -> None:
    """As docs/deploy.md says: nothing of ours is installed where the executors run."""
    archive = packed(tmp_path)
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with cluster(tmp_path / "cluster", environment=bare) as standing:
        run = submitted(
            ("--master", standing.master, "--archives", f"{archive}#environment"),
            options(None, folder, "packed"),
            PYSPARK_PYTHON="./environment/bin/python",
        )
        assert run.returncode == 0, run.stdout + run.stderr
        assert tables(folder / "packed") == expected
        for worker in standing.workers:
            [environment] = worker.folder.glob("app-*/*/environment")
            [package] = environment.glob("lib/python*/site-packages/sensewire")
            # The kernels came with the archive: none was compiled, and so none written.
            kernels = list(package.rglob("*.nbi"))
            assert kernels
            assert max(path.stat().st_mtime for path in kernels) < archive.stat().st_mtime


def packed(place: Path) -> Path:
    """An environment with a wheel of ours, its kernels compiled, as an archive."""
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    constraints = ("--constraint", str(ROOT / "constraints.txt"))
    build = (*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(place))
    subprocess.run([sys.executable, *build, str(ROOT)], check=True)
    [wheel] = place.glob("sensewire-*.whl")
    home = place / "environment"
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    python = str(home / "bin" / "python")
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    archive = place / "environment.tar.gz"
    for arguments in (
        (*pip, "install", *constraints, str(wheel), "pandas", "venv-pack", "setuptools"),
        ("-m", "sensewire.cli.main", "warm"),
        ("-m", "venv_pack", "--quiet", "--prefix", str(home), "--output", str(archive)),
    ):
        subprocess.run([python, *arguments], check=True, env=alone, stdout=subprocess.DEVNULL)
    return archive
