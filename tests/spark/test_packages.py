"""Jars that Spark fetches: one line where they cannot be had."""

import subprocess
import sys
from pathlib import Path

import pytest

NOWHERE = """\
<ivysettings>
  <settings defaultResolver="nowhere"/>
  <resolvers>
    <filesystem name="nowhere"><artifact pattern="{folder}/[artifact].[ext]"/></filesystem>
  </resolvers>
</ivysettings>
"""
START = """
import sys
from sensewire.model.errors import SensewireError
from sensewire.spark.delta import delta_settings
from sensewire.spark.session import settings_in, spark_session
try:
    spark = spark_session(master="local[1]", settings=delta_settings(settings_in(sys.argv[1:])))
except SensewireError as error:
    sys.exit(f"sensewire: {error}")
print(spark.range(3).count())
"""


def started(*settings: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", START, *settings],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def nowhere(tmp_path: Path) -> tuple[str, ...]:
    """Settings with which no jar is found, and no network asked for any."""
    file = tmp_path / "ivysettings.xml"
    file.write_text(NOWHERE.format(folder=tmp_path))
    return (f"spark.jars.ivySettings={file}", f"spark.jars.ivy={tmp_path / 'ivy'}")


@pytest.mark.spark
def test_jars_that_cannot_be_had_are_one_line(nowhere: tuple[str, ...]) -> None:
    run = started(*nowhere)
    assert run.returncode == 1
    assert run.stdout == ""
    [line] = run.stderr.splitlines()
    assert line.startswith(
        "sensewire: Spark could not fetch io.delta:delta-spark_4.2_2.13:4.4.0; right would be"
    )
    for choice in ("spark.jars.repositories=", "spark.jars=", "--format parquet"):
        assert choice in line


@pytest.mark.spark
def test_another_failure_shows_what_the_jvm_said(nowhere: tuple[str, ...]) -> None:
    run = started(*nowhere, "spark.driver.memory=lots")
    assert run.returncode == 1
    assert "-Xmxlots" in run.stderr
    assert "sensewire: Spark did not start on local[1,3]: " in run.stderr
    assert "could not fetch" not in run.stderr
