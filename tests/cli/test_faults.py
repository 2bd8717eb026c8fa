"""The fault campaign: how often veRL names the place of an injected fault, and how often it cries wolf."""
import json
import subprocess
import sys

import pytest

from conftest import PROGRAM, ROOT
from tensor_files import write_npy


def campaign(*arguments):
    return subprocess.run([sys.executable, ROOT / "tests/bench/faults.py", "--program", PROGRAM, *arguments],
                          capture_output=True, text=True, timeout=200)


@pytest.fixture(scope="module")
def table():
    return campaign("--need-hits", "16", "--most-alarms", "4")


def test_at_least_16_of_18_origins_are_named_with_at_most_4_of_6_alarms(table):
    assert table.returncode == 0, table.stdout + table.stderr
    assert "/18, near" in table.stdout and "/6" in table.stdout.splitlines()[-1]


def test_no_fault_passes_in_silence(table):
    assert "silent 0," in table.stdout, table.stdout


def test_the_campaign_counts_misses_and_alarms(tmp_path):
    """Two made-up cases: a fault whose place is said to be elsewhere, and a benign pair that differs."""
    for name, benign in (("X1_miss", False), ("X2_alarm", True)):
        write_npy(tmp_path / name / "ref/a.npy", [1.0, 2.0])
        write_npy(tmp_path / name / "target/a.npy", [1.0, 3.0])
        truth = {"benign": benign, "layer": "b", "layer_accept": ["b"], "layer_coarse": []}
        (tmp_path / name / "truth.json").write_text(json.dumps(truth))
    run = campaign("--set", str(tmp_path))
    assert run.returncode == 0 and "hits 0/1, near 0/1, silent 0, false alarms 1/1" in run.stdout
    assert campaign("--set", str(tmp_path), "--need-hits", "1").returncode == 1
    assert campaign("--set", str(tmp_path), "--most-alarms", "0").returncode == 1
