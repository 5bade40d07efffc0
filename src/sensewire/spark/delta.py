"""Delta tables: Parquet files, and beside them a log that says which of them are the table.

Delta comes as jars, which Spark fetches when it starts (`delta_settings`). The newest release is
built for the Spark before ours, and not all of it runs: a new table is written in full, while
reading one, and converting a folder in place, end in a method that is not there. So a table is
written by the DataFrame writer, and read by others (docs/decisions/delta.md).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sensewire.events.locations import Location
from sensewire.model.errors import SensewireError
from sensewire.spark.packages import PACKAGES
from sensewire.spark.writing import FOLDERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"
"""What is fetched unless the user names jars of Delta: the newest release, for Scala 2.13."""

_JARS = ("spark.jars", PACKAGES)
_EXTENSIONS = "spark.sql.extensions"
_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
_CATALOG = "spark.sql.catalog.spark_catalog"
_DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"


def delta_settings(given: Mapping[str, str] = {}) -> dict[str, str]:
    """The settings of a session that writes Delta tables, with those that were given.

    Jars of Delta among the given ones are taken as they are; else ours are added to them.

    >>> delta_settings()["spark.jars.packages"]
    'io.delta:delta-spark_4.2_2.13:4.4.0'
    >>> "spark.jars.packages" in delta_settings({"spark.jars": "/jars/delta-spark.jar"})
    False
    """
    settings = dict(given)
    if not any("delta-" in given.get(name, "") for name in _JARS):
        settings[PACKAGES] = _with(given.get(PACKAGES), DELTA)
    if _EXTENSION not in given.get(_EXTENSIONS, ""):
        settings[_EXTENSIONS] = _with(given.get(_EXTENSIONS), _EXTENSION)
    return {_CATALOG: _DELTA_CATALOG, **settings}


def write_delta(table: "DataFrame", folder: Location) -> None:
    """Write a table to a folder that has none, as a Delta table of one version."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        table.write.format("delta").mode("append").save(_address(folder))
        if folder.is_local:
            for checksum in Path(folder.text).glob("**/.*.crc"):  # Hadoop's: nobody reads them
                checksum.unlink()
    except (PySparkException, Py4JError) as error:
        if reason := _misfit(str(error)):
            raise SensewireError(
                f"the jars of Delta Lake cannot write with Spark {table.sparkSession.version}:"
                f" {reason}; right would be {DELTA}, or --format parquet"
            ) from error
        raise


def write_as_delta(spark: "SparkSession", draft: Location) -> None:
    """Make tables of the Parquet files in a run's folder, each where its files are."""
    for folder in FOLDERS.values():
        _to_delta(spark, draft.child(folder) if folder else draft)


def _to_delta(spark: "SparkSession", folder: Location) -> None:
    files = [folder.child(file.path) for file in folder.below()]
    write_delta(spark.read.parquet(*(_address(file) for file in files)), folder)
    for file in files:
        file.remove()


def _address(place: Location) -> str:
    return Path(place.text).as_uri() if place.is_local else place.text


def _with(given: str | None, ours: str) -> str:
    return f"{given},{ours}" if given else ours


def _misfit(text: str) -> str | None:
    """The line that says that jars are missing, or made for another Spark."""
    signs = (
        "NoSuchMethodError",
        "NoClassDefFoundError",
        "AbstractMethodError",
        "ClassNotFound",
        "IncompatibleClassChangeError",
        "NoSuchFieldError",
        "DATA_SOURCE_NOT_FOUND",
    )
    for line in text.splitlines():
        if any(sign in line for sign in signs):
            return line.strip(" :").split(". ")[0]
    return None
