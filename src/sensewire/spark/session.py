"""The Spark session that the pipeline's jobs run in.

One function makes it, so that Spark starts in the same way everywhere: with a Java that it can run
on, the interpreter that runs us, and nothing on the terminal but errors. What a job needs beyond
that it passes as `settings`. pyspark is imported here when a session is asked for, and not before:
it is an extra, and slow to import.
"""

import os
import re
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sensewire.model.errors import SensewireError
from sensewire.spark.java import java_home, packaged_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL_MASTER = "local[*,3]"
"""Every core of this machine; a task is tried three times, where plain `local[*]` tries it once."""

_LOOPBACK = "127.0.0.1"
_PATIENCE = 5  # seconds
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_NUMBER = r"\s*(\d+|\*)\s*"
_MASTER = re.compile(
    rf"local(\[{_NUMBER}(,\s*\d+\s*)?\])?"
    r"|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|(spark|k8s)://.+|yarn"
)


def spark_session(*, master: str | None, settings: Mapping[str, str] = {}) -> "SparkSession":
    """Return the session of this process, started on `master` unless one is running already.

    `settings` are Spark's own and stand above ours. Java, the Python of the workers and the address
    are left in the environment of this process, where Spark's launcher looks for them.
    """
    master = LOCAL_MASTER if master is None else master
    if not _MASTER.fullmatch(master):
        raise SensewireError(
            f"{master!r} is no Spark master; right would be local[*], local[2],"
            " spark://host:port, k8s://https://host:port or yarn"
        )
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SensewireError(
            f'PySpark cannot be imported ({error}); right would be: pip install "sensewire[spark]"'
        ) from error

    _check_reachable(master)
    os.environ.update(launch_environment(master, os.environ))
    builder = SparkSession.builder.master(master).appName("sensewire")
    for name, value in session_settings(master, settings).items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        reason = " ".join(str(error).splitlines()[:2])
        raise SensewireError(f"Spark did not start on {master}: {reason}") from error


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


def launch_environment(master: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that Spark's launcher is to find, beside those that are there."""
    variables = {
        "JAVA_HOME": str(java_home(environment, packaged=packaged_java())),
        # The workers must have our packages: they are the interpreter that runs us.
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    if _is_local(master):
        # Otherwise Spark looks for a network interface, and warns of the one that it chose.
        variables["SPARK_LOCAL_IP"] = _LOOPBACK
    else:
        # On a cluster our interpreter's path may not exist: a stated one knows better.
        variables |= {
            name: environment[name]
            for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
            if name in environment
        }
    return variables


def session_settings(master: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings for a session on `master`: ours, and above them those given."""
    log_file = Path(__file__).with_name("log4j2.properties")
    ours = {
        # Nobody opens the web page of a command that ends, and it takes a port and memory.
        "spark.ui.enabled": "false",
        # The command draws its own progress bar; Spark's would be drawn over it.
        "spark.ui.showConsoleProgress": "false",
        # A time without a zone is UTC by definition, and not the zone of whoever runs the job.
        "spark.sql.session.timeZone": "UTC",
    }
    if _is_local(master):
        # The driver is its own only executor: no other machine is to reach it, and a machine with
        # no network, or with a name that does not resolve, can run it too.
        ours |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
    # Errors only, from the JVM's first moment on. The last option of a name wins: a log file given
    # in the settings stands above ours.
    quiet = f"-Dlog4j2.configurationFile={log_file.as_uri()}"
    options = f"{quiet} {settings.get(_JAVA_OPTIONS, '')}".strip()
    return ours | dict(settings) | {_JAVA_OPTIONS: options}


def _is_local(master: str) -> bool:
    return master.startswith("local")
