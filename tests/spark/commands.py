"""The command `sensewire match` as a process of its own, and what it writes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.spark.cluster import HOST

PATIENCE = 300  # seconds
MATCH = (sys.executable, "-m", "sensewire.cli.main", "match")
Tables = list[list[dict[str, Any]]]


def environment(**variables: str) -> dict[str, str]:
    return {**os.environ, "SPARK_LOCAL_IP": HOST, **variables}


def matched(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run the command to its end."""
    return subprocess.run(
        [*MATCH, *map(str, arguments)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def begun(*arguments: str | Path) -> "subprocess.Popen[str]":
    """Start the command, in a group of processes of its own."""
    return subprocess.Popen(
        [*MATCH, *map(str, arguments)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def tables(out: Path) -> Tables:
    """Matches, rejections and failures, in an order of their own."""
    found = [pq.read_table(out / name).to_pylist() for name in ("", "_rejected", "_failed")]
    return [sorted(rows, key=lambda row: json.dumps(row, default=str)) for rows in found]
