"""The Spark session that the pipeline's jobs run in.

One function makes it, so that Spark starts in the same way everywhere: with a Java that it can run
on, the interpreter that runs us, and nothing on the terminal but errors. What a job needs beyond
that it passes as `settings`. pyspark is imported here when a session is asked for, and not before:
it is an extra, and slow to import.

    who says it            stands above
    settings given         what follows
    spark-submit           ours: where it started us, its master and its settings hold
    ours
"""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensewire.model.errors import SensewireError
from sensewire.spark.classes import mapping_options
from sensewire.spark.java import java_home, packaged_java
from sensewire.spark.packages import PACKAGES, start_with_packages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL_MASTER = "local[*]"
"""Every core of this machine."""

DAEMON = "sensewire.spark.daemon"
"""The module that Python workers are forked from."""

JAVA_OPTIONS = "spark.driver.extraJavaOptions"

_SOCKETS = "spark.python.unix.domain.socket.enabled"
_LOCAL_TRIES = 3  # of a task; Spark's own local masters try once, its clusters four times
_LOOPBACK = "127.0.0.1"
_PATIENCE = 5  # seconds
_GATEWAY = "PYSPARK_GATEWAY_PORT"  # where the JVM listens that spark-submit started, and us by it
_KERNELS = "NUMBA_CACHE_DIR"
_OPTION_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "SPARK_SUBMIT_OPTS")
_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
_NUMBER = r"\s*(\d+|\*)\s*"
_MASTER = re.compile(
    rf"local(\[{_NUMBER}(,\s*\d+\s*)?\])?"
    r"|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|(spark|k8s)://.+|yarn"
)


def spark_session(*, master: str | None, settings: Mapping[str, str] = {}) -> "SparkSession":
    """Return the session of this process, started on `master` unless one is running already.

    Without a master it is the one that spark-submit was given, else every core of this machine.
    Java, the Python of the workers and the address are left in the environment of this process,
    where Spark's launcher looks for them.
    """
    if master is not None:
        _check_master(master)
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SensewireError(
            f'PySpark cannot be imported ({error}); right would be: pip install "sensewire[spark]"'
        ) from error

    submitted = _submitted()
    master = with_tries(master or submitted.get("spark.master", LOCAL_MASTER))
    _check_reachable(master)
    if not submitted:
        os.environ.update(launch_environment(master, os.environ))
    os.environ.update(python_environment(master, os.environ))
    ours = session_settings(master, settings, os.environ)
    builder = SparkSession.builder.master(master)
    for name, value in ours.items():
        if name not in submitted or name in settings:
            builder = builder.config(name, value)
    try:
        with _deaf_jvm():
            if ours.get(PACKAGES) and not submitted:
                start_with_packages({**ours, "spark.master": master})
            return builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        reason = " ".join(str(error).splitlines()[:2])
        raise SensewireError(f"Spark did not start on {master}: {reason}") from error


@contextmanager
def _deaf_jvm() -> Iterator[None]:
    """Have the JVM, if it is started meanwhile, ignore SIGTERM, as PySpark has it ignore Ctrl-C.

    Whoever asks all processes of a command to end, as `timeout` and systemd do, would have Spark
    end under a batch that we are about to end. The JVM ends when we do: its input is closed then.
    """
    from pyspark import java_gateway

    gateway: Any = java_gateway  # Any: PySpark states no types here
    plain = gateway.Popen

    def start(command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
        before = options.pop("preexec_fn", None)

        def ignoring() -> None:
            if before is not None:
                before()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)

        started: subprocess.Popen[bytes] = plain(command, preexec_fn=ignoring, **options)
        return started

    gateway.Popen = plain if sys.platform == "win32" else start
    try:
        yield
    finally:
        gateway.Popen = plain


def settings_in(texts: Sequence[str]) -> dict[str, str]:
    """Spark's settings as a command line states them; the last of a name stands.

    >>> settings_in(["spark.executor.memory=4g", "spark.executorEnv.A=b=c"])
    {'spark.executor.memory': '4g', 'spark.executorEnv.A': 'b=c'}
    """
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not re.fullmatch(r"spark\.\S+", name):
            raise SensewireError(
                f"--conf {text!r} is no setting of Spark; right would be NAME=VALUE with a name"
                " that begins with 'spark.', as in --conf spark.executor.memory=4g"
            )
        if name == "spark.master":
            raise SensewireError(f"--conf {text!r}: the master is given by --master {value}")
        settings[name] = value.strip()
    return settings


def with_tries(master: str) -> str:
    """A master of this machine that tries a task as often as ours do, unless it says how often.

    >>> with_tries("local[2]"), with_tries("local"), with_tries("local[*,1]"), with_tries("yarn")
    ('local[2,3]', 'local[1,3]', 'local[*,1]', 'yarn')
    """
    found = re.fullmatch(rf"local(?:\[{_NUMBER}\])?", master)
    return master if found is None else f"local[{found[1] or 1},{_LOCAL_TRIES}]"


def launch_environment(master: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that Spark's launcher is to find, beside those that are there."""
    variables = {"JAVA_HOME": str(java_home(environment, packaged=packaged_java()))}
    if _is_local(master):
        # Otherwise Spark looks for a network interface, and warns of the one that it chose.
        variables["SPARK_LOCAL_IP"] = _LOOPBACK
    return variables


def python_environment(master: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that say which Python the workers run on."""
    # They must have our packages, and so they are the interpreter that runs us; but on a cluster
    # its path may not exist: a stated one knows better.
    names = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
    stated = {} if _is_local(master) else environment
    return {name: stated.get(name) or sys.executable for name in names}


def session_settings(
    master: str, settings: Mapping[str, str], environment: Mapping[str, str] = {}
) -> dict[str, str]:
    """Return Spark's settings for a session on `master`: ours, and above them those given."""
    log_file = Path(__file__).with_name("log4j2.properties")
    ours = {
        "spark.app.name": "sensewire",
        # Nobody opens the web page of a command that ends, and it takes a port and memory.
        "spark.ui.enabled": "false",
        # The command draws its own progress bar; Spark's would be drawn over it.
        "spark.ui.showConsoleProgress": "false",
        # A time without a zone is UTC by definition, and not the zone of whoever runs the job.
        "spark.sql.session.timeZone": "UTC",
        # Workers are forked from a process that has the engine and its kernels already.
        "spark.python.daemon.module": DAEMON,
    }
    if _is_local(master):
        # The driver is its own only executor: no other machine is to reach it, and a machine with
        # no network, or with a name that does not resolve, can run it too.
        ours |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
        if sys.platform == "linux":
            # Over TCP each task waits 40 ms: the JVM's second write for an acknowledgement of its
            # first, and that for more to come (Nagle's algorithm, and delayed acknowledgements).
            ours[_SOCKETS] = "true"
    if environment.get(_KERNELS):
        ours[f"spark.executorEnv.{_KERNELS}"] = environment[_KERNELS]
    # Errors only, from the JVM's first moment on. The last option of a name wins: a log file given
    # in the settings stands above ours.
    quiet = f"-Dlog4j2.configurationFile={log_file.as_uri()}"
    given = settings.get(JAVA_OPTIONS, "")
    quick = _quick_options(given, environment) if _is_local(master) else ""
    options = " ".join(part for part in (quiet, quick, given) if part)
    return ours | dict(settings) | {JAVA_OPTIONS: options}


def _quick_options(given: str, environment: Mapping[str, str]) -> str:
    """The options of a JVM that starts fast and leaves the cores to the workers.

    It hands out tasks and sees no event: what its optimising compiler and a collector with threads
    of its own would take, they take from those who match.
    """
    stated = [given, *(environment.get(name, "") for name in _OPTION_VARIABLES)]
    options = ["-XX:TieredStopAtLevel=1"]
    if not any(_COLLECTOR.search(text) for text in stated):  # a JVM refuses to have two
        options.append("-XX:+UseSerialGC")
        if home := environment.get("JAVA_HOME"):
            options.append(mapping_options(Path(home)))
    return " ".join(filter(None, options))


def _submitted() -> dict[str, str]:
    """The settings of spark-submit, where that started us; nothing where we start Spark."""
    if _GATEWAY not in os.environ:
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # or the settings, which the JVM holds, are not seen
    return dict(SparkConf().getAll())


def _check_master(master: str) -> None:
    if not _MASTER.fullmatch(master):
        raise SensewireError(
            f"{master!r} is no Spark master; right would be local[*], local[2],"
            " spark://host:port, k8s://https://host:port or yarn"
        )


def _check_reachable(master: str) -> None:
    """Raise where nothing listens at a standalone master's address: Spark would try for a minute.

    One of several addresses, as for masters that stand by, is enough.
    """
    addresses = re.findall(r"([^,/]+):(\d+)", master.removeprefix("spark://"))
    if not master.startswith("spark://") or not addresses:
        return
    for host, port in addresses:
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=_PATIENCE):
            return
    raise SensewireError(f"no Spark master answers at {master}; is it running, and reachable?")


def _is_local(master: str) -> bool:
    return master.startswith("local")
