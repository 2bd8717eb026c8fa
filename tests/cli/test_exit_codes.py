"""The table of exit codes, and Ctrl-C: what was known is written and marked partial."""
import json
import signal
import subprocess
import time

import numpy
import pytest

from tensor_files import npy_bytes, write_npy

VALUES = numpy.arange(1, 9, dtype="<f4")


def pair(tmp_path, kind):
    for side in ("ref", "target"):
        write_npy(tmp_path / side / "same.npy", VALUES)
        write_npy(tmp_path / side / "other.npy", VALUES)
    other = tmp_path / "target" / "other.npy"
    if kind == "fail":
        write_npy(other, VALUES * 2)
    elif kind == "warn":
        for side in ("ref", "target"):
            write_npy(tmp_path / side / "other.npy", numpy.where(VALUES > 4, numpy.nan, VALUES))
    elif kind == "unmatched":
        other.unlink()
    elif kind == "unreadable":
        other.write_bytes(other.read_bytes()[:-1])
    elif kind == "fail and unmatched":
        write_npy(other, VALUES * 2)
        write_npy(tmp_path / "target/third.npy", VALUES)
    elif kind == "nothing":
        (tmp_path / "ref/same.npy").unlink()
        other.unlink()
    return "-r", tmp_path / "ref", "-t", tmp_path / "target"


TABLE = {
    # what the dumps are: code, with --exit-zero, --fail-on warn, --allow-unmatched
    "equal": (0, 0, 0, 0),
    "warn": (0, 0, 1, 0),
    "fail": (1, 0, 1, 1),
    "unmatched": (3, 0, 3, 0),
    "unreadable": (3, 0, 3, 3),
    "fail and unmatched": (1, 0, 1, 1),
    "nothing": (3, 0, 3, 3),
}


@pytest.mark.parametrize("kind", TABLE)
@pytest.mark.parametrize("position,options", enumerate([[], ["--exit-zero"], ["--fail-on", "warn"], ["--allow-unmatched"]]),
                         ids=["plain", "exit-zero", "fail-on-warn", "allow-unmatched"])
def test_the_exit_code_is_that_of_the_table(msprobe, tmp_path, kind, position, options):
    run = msprobe("compare", *pair(tmp_path, kind), *options, "-o", "-")
    assert run.code == TABLE[kind][position], run.summary


@pytest.mark.parametrize("kind", TABLE)
def test_the_summary_agrees_with_the_exit_code(msprobe, tmp_path, kind):
    run = msprobe("compare", *pair(tmp_path, kind), "-o", "-")
    summary = run.summary
    assert summary["passed"] is (run.code == 0)
    assert summary["incomplete"] is (kind in ("unmatched", "unreadable", "fail and unmatched", "nothing"))
    assert summary["pass"] + summary["warn"] + summary["fail"] == summary["compared"]
    assert summary["compared"] + summary["error"] + summary["skip"] == len(run.rows)
    assert (summary["first_bad"] is None) is (summary["fail"] == 0)
    assert (summary["max_error"] == 0) is (kind in ("equal", "warn", "unmatched"))


def test_exit_zero_hides_no_mistake(msprobe, tmp_path):
    msprobe.error("compare", "-r", tmp_path / "nosuch", "-t", tmp_path, "--exit-zero", code="E1003")


def test_the_report_is_written_whatever_the_exit_code(msprobe, tmp_path):
    for kind in ("fail", "unreadable"):
        path = tmp_path / f"{kind}.json"
        assert msprobe("compare", *pair(tmp_path / kind, kind), "-o", path).code in (1, 3)
        assert json.loads(path.read_text())["summary"]["passed"] is False


def slow_pair(folder):
    """Two tensors that take a moment and some that do not; sparse, so that they cost no disk."""
    for side in ("ref", "target"):
        write_npy(folder / side / "a.npy", VALUES)
        for name in "bcdef":
            with open(folder / side / f"{name}.npy", "wb") as file:
                file.write(npy_bytes(b"", "<c8", (1 << 27,)))
                file.truncate(file.tell() + (8 << 27))
    return "-r", folder / "ref", "-t", folder / "target"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_ctrl_c_ends_soon_with_130_and_a_partial_report(msprobe, tmp_path, number):
    path = tmp_path / "report.json"
    command = [msprobe.path, "compare", *map(str, slow_pair(tmp_path)), "-j", "1", "-o", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=msprobe.env)
    time.sleep(0.4)
    process.send_signal(number)
    begun = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - begun < 5, "it must not finish the tensor first"
    assert process.returncode == 130, err
    report = json.loads(path.read_text())
    assert report["summary"]["partial"] is True and report["summary"]["incomplete"] is True and report["summary"]["passed"] is False
    assert len(report["rows"]) == 6, "rows that were not reached are there"
    reached = {row["name"]: row["verdict"] for row in report["rows"]}
    assert reached["a"] == "pass" and reached["f"] == "skip"
    assert "interrupted" in next(row for row in report["rows"] if row["name"] == "f")["why"]
    assert any("nterrupted" in finding["text"] for finding in report["findings"])


def test_ctrl_c_keeps_an_earlier_report_out_of_doubt(msprobe, tmp_path):
    """Interrupted while dumps are opened or compared: the file is the old one or a whole new one."""
    path = tmp_path / "report.json"
    path.write_text('{"earlier": true}')
    command = [msprobe.path, "compare", *map(str, slow_pair(tmp_path)), "-o", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=msprobe.env)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    content = json.loads(path.read_text())
    assert content.get("earlier") or content["summary"]["partial"] is True
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".msprobe")] == []
