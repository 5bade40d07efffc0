"""Spark started with jars that it fetches (`spark.jars.packages`), without a word unless it fails.

Spark has Ivy look for them while the JVM starts, which writes a hundred lines about its search, and
a stack where it finds nothing. Here the lines are held back until the JVM stands. From then on
whatever it writes is passed on; where it fails, one line says what could not be had.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from threading import Event, Thread
from typing import Any

from sensewire.model.errors import SensewireError

PACKAGES = "spark.jars.packages"

_MISSING = re.compile(r"(?:unresolved|UNRESOLVED) dependency: ([^#\s]+)#([^;\s]+);([^:\s]+)")
_FAILED = re.compile(r"(?:\[FAILED\s*\]|download failed:) ([^#\s]+)#([^;\s]+);([^!\s(]+)")


def start_with_packages(settings: Mapping[str, str]) -> None:
    """Start the JVM of this process with these settings, unless there is one."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    read, write = os.pipe()
    held: list[str] = []
    stands = Event()
    reader = Thread(target=_pass_on, args=(read, held, stands), daemon=True)
    reader.start()
    try:
        launch: Any = launch_gateway  # pyspark states no types here
        gateway = launch(conf, {"stdout": write, "stderr": write})
    except PySparkException as error:
        os.close(write)
        reader.join()
        missing = missing_in(held)
        if not missing:
            sys.stderr.writelines(held)
            raise
        raise SensewireError(
            f"Spark could not fetch {', '.join(missing)}; right would be a repository that can be"
            " reached (--conf spark.jars.repositories=https://…), the jars themselves"
            " (--conf spark.jars=a.jar,b.jar), or an output that needs none (--format parquet)"
        ) from error
    stands.set()
    os.close(write)
    SparkContext._ensure_initialized(gateway=gateway)


def missing_in(lines: Iterable[str]) -> list[str]:
    """The packages that Ivy says it could not get, each once.

    >>> missing_in(["\\tUNRESOLVED DEPENDENCIES", "unresolved dependency: a.b#c_2;1.0: not found"])
    ['a.b:c_2:1.0']
    """
    found = [match for line in lines for match in (_MISSING.search(line), _FAILED.search(line))]
    return list(dict.fromkeys(":".join(match.groups()) for match in found if match))


def _pass_on(descriptor: int, held: list[str], stands: Event) -> None:
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if stands.is_set():
                sys.stderr.write(line)
            else:
                held.append(line)
