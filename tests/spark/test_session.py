"""The session starts in one way everywhere, and says what is missing where it cannot."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sensewire.model.errors import SensewireError
from sensewire.spark.classes import _stem, archive_beside, mapping_options
from sensewire.spark.java import java_home, packaged_java
from sensewire.spark.session import (
    JAVA_OPTIONS,
    launch_environment,
    python_environment,
    session_settings,
    settings_in,
    spark_session,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_process_has_one_session(spark: "SparkSession") -> None:
    assert spark_session(master=None) is spark
    assert spark.sparkContext.master == "local[2,3]"


def test_a_time_without_zone_is_utc(spark: "SparkSession") -> None:
    [row] = spark.sql("select unix_timestamp(timestamp '1970-01-02 00:00:00') as seconds").collect()
    assert row.seconds == 24 * 60 * 60


def test_nothing_is_served_and_no_other_machine_can_reach_the_driver(spark: "SparkSession") -> None:
    assert spark.sparkContext.uiWebUrl is None
    assert spark.sparkContext.getConf().get("spark.driver.host") == "127.0.0.1"


def test_the_workers_are_the_interpreter_that_runs_us(spark: "SparkSession") -> None:
    def interpreters(_: object) -> list[str]:
        return [sys.executable]

    assert spark.sparkContext.parallelize([1], 1).flatMap(interpreters).collect() == [
        sys.executable
    ]


@pytest.mark.parametrize(
    "master",
    ["", "nonsense", "local[abc]", "local[", "local[2,]", "spark:/host:7077", "local[*,*]"],
)
def test_a_master_that_is_none_is_an_error_before_spark_starts(master: str) -> None:
    with pytest.raises(SensewireError, match=r"is no Spark master; right would be local\[\*\]"):
        spark_session(master=master)


@pytest.mark.spark
def test_a_start_that_fails_is_an_error_of_ours() -> None:
    """In a process of its own: in this one a session may be running already."""
    job = """
from sensewire.model.errors import SensewireError
from sensewire.spark.session import spark_session
try:
    spark_session(master="local[1]", settings={"spark.driver.memory": "lots"})
except SensewireError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, timeout=300)
    assert run.stdout.startswith("Spark did not start on local[1,3]: ")
    assert "-Xmxlots" in run.stderr


def test_without_pyspark_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(SensewireError, match=r'pip install "sensewire\[spark\]"'):
        spark_session(master=None)


@pytest.mark.parametrize(
    ("master", "python", "address"),
    [
        ("local[*,3]", sys.executable, "127.0.0.1"),
        ("local-cluster[1,1,1024]", sys.executable, "127.0.0.1"),
        ("spark://host:7077", "/of/the/cluster/python", None),
        ("yarn", "/of/the/cluster/python", None),
    ],
)
def test_a_stated_python_is_the_clusters_and_loopback_is_for_this_machine(
    tmp_path: Path, master: str, python: str, address: str | None
) -> None:
    environment = {"HOME": str(tmp_path), "PYSPARK_PYTHON": "/of/the/cluster/python"}
    variables = python_environment(master, environment)
    assert variables["PYSPARK_PYTHON"] == python
    assert variables["PYSPARK_DRIVER_PYTHON"] == sys.executable
    assert launch_environment(master, environment).get("SPARK_LOCAL_IP") == address
    assert session_settings(master, {}).get("spark.driver.host") == address


def test_without_a_stated_python_a_cluster_gets_ours() -> None:
    variables = python_environment("spark://host:7077", {})
    assert variables["PYSPARK_PYTHON"] == sys.executable


def test_settings_that_are_given_stand_above_ours() -> None:
    given = {"spark.ui.enabled": "true", JAVA_OPTIONS: "-Xss4m"}
    settings = session_settings("local[2]", given)
    assert settings["spark.ui.enabled"] == "true"
    assert settings["spark.ui.showConsoleProgress"] == "false"
    assert settings[JAVA_OPTIONS].startswith("-Dlog4j2.configurationFile=file:///")
    assert settings[JAVA_OPTIONS].endswith(
        "/log4j2.properties -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m"
    )


def test_a_jvm_of_this_machine_leaves_the_cores_to_the_workers(tmp_path: Path) -> None:
    home = {"JAVA_HOME": str(tmp_path)}
    options = session_settings("local[2]", {}, home)[JAVA_OPTIONS]
    assert options.endswith("-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    (tmp_path / f"{_stem()}-3.jsa").write_bytes(b"abc")
    mapped = session_settings("local[2]", {}, home)[JAVA_OPTIONS].removeprefix(options)
    assert mapped == " " + mapping_options(tmp_path) != " "
    assert "-XX" not in session_settings("spark://host:7077", {}, home)[JAVA_OPTIONS]


@pytest.mark.parametrize("variable", ["", "JDK_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS"])
def test_a_stated_collector_is_the_only_one(variable: str) -> None:
    given = {} if variable else {JAVA_OPTIONS: "-XX:+UseZGC"}
    stated = {variable: "-Xmx1g -XX:+UseParallelGC"} if variable else {}
    options = session_settings("local", given, stated)[JAVA_OPTIONS]
    assert "Serial" not in options


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no /proc to look into")
def test_the_archive_of_classes_is_mapped(spark: "SparkSession") -> None:
    archive = archive_beside(java_home(os.environ, packaged=packaged_java()))
    if archive is None:
        pytest.skip("nobody ran `sensewire warm`")
    java: Any = spark.sparkContext._jvm  # Any: py4j has no types
    jvm = int(java.java.lang.ProcessHandle.current().pid())
    assert str(archive) in Path(f"/proc/{jvm}/maps").read_text()


def test_a_master_that_does_not_answer_is_said_at_once() -> None:
    with pytest.raises(SensewireError, match=r"no Spark master answers at spark://127\.0\.0\.1:1"):
        spark_session(master="spark://127.0.0.1:1")


@pytest.mark.parametrize(
    "text", ["", "spark.executor.memory", "executor.memory=4g", "=4g", "spark.=1", "spark. x=1"]
)
def test_a_setting_that_is_none_of_sparks_is_an_error(text: str) -> None:
    with pytest.raises(SensewireError, match=r"is no setting of Spark; right would be NAME=VALUE"):
        settings_in(["spark.ui.enabled=true", text])


def test_the_last_setting_of_a_name_stands_and_may_be_empty() -> None:
    texts = ["spark.a=1", "spark.b=", " spark.a = x=y,z "]
    assert settings_in(texts) == {"spark.a": "x=y,z", "spark.b": ""}


def test_the_master_is_no_setting() -> None:
    with pytest.raises(SensewireError, match=r"the master is given by --master local\[2\]"):
        settings_in(["spark.master=local[2]"])


def test_the_kernels_cache_of_the_driver_is_the_executors() -> None:
    name = "spark.executorEnv.NUMBA_CACHE_DIR"
    assert name not in session_settings("yarn", {}, {})
    found = session_settings("yarn", {}, {"NUMBA_CACHE_DIR": "/shared/kernels"})
    assert found[name] == "/shared/kernels"
    above = session_settings("yarn", {name: "/local"}, {"NUMBA_CACHE_DIR": "/shared/kernels"})
    assert above[name] == "/local"


def test_a_task_on_this_machine_is_tried_three_times(spark: "SparkSession", tmp_path: Path) -> None:
    tries = str(tmp_path / "tries")

    def fails_twice(_: object) -> list[int]:
        with Path(tries).open("a+") as file:
            file.write("x")
            file.seek(0)
            count = len(file.read())
        if count < 3:
            raise ValueError("not yet")
        return [count]

    assert spark.sparkContext.parallelize([1], 1).flatMap(fails_twice).collect() == [3]
