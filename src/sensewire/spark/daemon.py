"""The daemon that Spark forks Python workers from, with everything that a worker needs in it.

Spark's own daemon is empty: each worker that it forks imports the engine and loads the kernels'
machine code for itself, which takes seconds and memory of its own. This one does so once, and the
workers share it. Spark starts it on every machine, by the setting `spark.python.daemon.module`.

    executor (JVM) ──> python -m sensewire.spark.daemon ──fork──> worker, worker, …
                       imports, kernels from numba's cache

Nothing is compiled here: a kernel that the cache does not have is left to the worker that calls
it, and the cache is filled by `sensewire warm`. Nor is this a place to fail: whatever goes wrong
costs a worker the time that it would have taken anyway.

Invariant: a process that has a thread which we do not know is not forked; it becomes Spark's own
daemon instead, as on systems that do not say which threads there are. Known are those that two
libraries start when they are loaded: jemalloc's, of Arrow, which prepares itself for a fork, and
OpenBLAS's, which is told to start none.
"""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_WORKER = "pyspark.worker"
_TASKS = Path("/proc/self/task")
_KNOWN = "jemalloc_bg_thd"  # has handlers of its own for a fork: a child starts it anew
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def main() -> None:
    """Be the daemon. Workers of other kinds, such as those that plan a query, need no engine."""
    if sys.argv[1:2] == [_WORKER] and _TASKS.is_dir():
        with _output_aside(), suppress(Exception):
            load()
        if strange_threads():
            os.execv(sys.executable, [sys.executable, "-m", "pyspark.daemon", *sys.argv[1:]])
    from pyspark import daemon

    quiet_workers(daemon)
    daemon.manager()


def load() -> None:
    """Import what a worker imports, and load the kernels that are in the cache."""
    with _one_thread():
        import numpy  # noqa: F401
    import pyarrow  # noqa: F401
    import pyspark.worker  # noqa: F401

    import sensewire.batches
    import sensewire.engine
    import sensewire.spark.match  # noqa: F401
    from sensewire.warming import load_kernels

    load_kernels()
    # A worker looks for garbage after each task: what stays for ever, and is shared, it need not
    # look through.
    gc.collect()
    gc.freeze()


def strange_threads() -> list[str]:
    """The names of threads that must not be there when a process is forked."""
    try:
        tasks = [task for task in _TASKS.iterdir() if task.name != str(os.getpid())]
    except OSError:  # no Linux: who is there cannot be said
        return ["unknown"]
    names: list[str] = []
    for task in tasks:
        with suppress(OSError):  # it ended meanwhile
            names.append((task / "comm").read_text().strip())
    return [name for name in names if name != _KNOWN]


def quiet_workers(daemon: Any) -> None:
    """Have the workers of a daemon end without a word when nobody listens to them any more, as at
    the end of a job. Any: Spark's module, which may have been started as the program itself."""
    loud: Callable[..., int] = daemon.worker

    def work(*arguments: object) -> int:
        try:
            return loud(*arguments)
        except ConnectionError:
            os._exit(1)  # as Spark's own does, after a traceback on the user's terminal

    daemon.worker = work


@contextmanager
def _one_thread() -> Iterator[None]:
    """OpenBLAS asks once, when it is loaded, how many threads to start."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _output_aside() -> Iterator[None]:
    """Spark reads the daemon's port from its output: nobody else may write there."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


if __name__ == "__main__":
    main()
