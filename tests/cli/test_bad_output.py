"""Reports that cannot be written: told before the work where possible, and an earlier report stays as it was."""
import os
import resource
import signal
import subprocess

import numpy
import pytest

from conftest import Run, check_error
from tensor_files import write_npy


@pytest.fixture
def pair(tmp_path):
    for side in ("ref", "target"):
        for name in "abc":
            write_npy(tmp_path / side / f"{name}.npy", numpy.ones(4, "<f4"))
    return tmp_path / "ref", tmp_path / "target"


def flags(pair):
    return "-r", pair[0], "-t", pair[1]


@pytest.mark.parametrize("suffix", ["json", "csv", "html"])
def test_an_output_folder_that_does_not_exist_is_told_at_once(msprobe, pair, tmp_path, suffix):
    path = tmp_path / "nosuch" / f"report.{suffix}"
    msprobe.error("compare", *flags(pair), "-o", path, code="E1001", mentions=[path, "mkdir"])
    assert not path.parent.exists()


def test_an_output_that_is_a_folder_is_refused(msprobe, pair, tmp_path):
    (tmp_path / "report.json").mkdir()
    msprobe.error("compare", *flags(pair), "-o", tmp_path / "report.json", code="E1002", mentions=["folder"])


def test_one_bad_output_of_two_writes_neither(msprobe, pair, tmp_path):
    run = msprobe("compare", *flags(pair), "-o", tmp_path / "good.json", "-o", tmp_path / "nosuch/bad.csv")
    assert run.code == 2 and not (tmp_path / "good.json").exists()


def limited(msprobe, size, *arguments):
    """A run in which no file may grow beyond `size` bytes: the same to a program as a full disk or a quota."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    done = subprocess.run([msprobe.path, *map(str, arguments)], capture_output=True, env=msprobe.env, preexec_fn=limit)
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


def last_error(run):
    return Run(run.code, "", run.err)  # the terminal's table was printed before the file was written


@pytest.mark.parametrize("suffix", ["json", "csv", "html"])
def test_when_the_disk_is_full_the_earlier_report_stays(msprobe, pair, tmp_path, suffix):
    path = tmp_path / f"report.{suffix}"
    path.write_text("earlier")
    line = check_error(last_error(limited(msprobe, 200, "compare", *flags(pair), "-o", path)), "E1001", [path, "free", "needed"])
    assert "bytes needed" in line or "KiB needed" in line
    assert path.read_text() == "earlier"
    assert [entry.name for entry in tmp_path.iterdir() if entry.name not in ("ref", "target", path.name)] == []


def test_a_file_system_without_space_is_e1001(msprobe, pair, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], capture_output=True)
    if mounted.returncode:
        pytest.skip("no mount here")
    try:
        path = small / "report.html"
        path.write_text("earlier")
        check_error(last_error(msprobe("compare", *flags(pair), "-o", path)), "E1001", [path, "free"])
        assert path.read_text() == "earlier" and [entry.name for entry in small.iterdir()] == ["report.html"]
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_full_device_behind_a_report_is_e1001(msprobe, pair, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    (tmp_path / "report.json").symlink_to("/dev/full")
    check_error(last_error(msprobe("compare", *flags(pair), "-o", tmp_path / "report.json")), "E1001")


@pytest.mark.parametrize("arguments", [["-o", "-"], []], ids=["json", "terminal"])
def test_a_full_stdout_is_e1001_not_success(msprobe, pair, arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([msprobe.path, "compare", *map(str, flags(pair)), *arguments], stdout=full, stderr=subprocess.PIPE, env=msprobe.env)
    check_error(Run(done.returncode, "", done.stderr.decode()), "E1001")


def test_a_reader_that_goes_away_ends_the_run_quietly(msprobe, pair):
    """msprobe ... | head: no crash report, no endless run."""
    command = [msprobe.path, "compare", *map(str, flags(pair)), "-o", "-"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=msprobe.env)
    process.stdout.close()
    err = process.stderr.read().decode()
    assert process.wait(timeout=20) in (2, -signal.SIGPIPE, 128 + signal.SIGPIPE)
    assert err.count("\n") <= 1


def test_reports_replace_earlier_ones_and_keep_their_mode(msprobe, pair, tmp_path):
    path = tmp_path / "report.json"
    path.write_text("earlier")
    path.chmod(0o640)
    assert msprobe("compare", *flags(pair), "-o", path).code == 0
    assert path.read_text().startswith('{"schema": "msprobe.report/1"') and path.stat().st_mode & 0o777 == 0o640


def test_reports_go_through_links(msprobe, pair, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "real/report.json")
    assert msprobe("compare", *flags(pair), "-o", tmp_path / "link.json").code == 0
    assert (tmp_path / "link.json").is_symlink() and (tmp_path / "real/report.json").is_file()


def test_several_outputs_are_written_in_one_run(msprobe, pair, tmp_path):
    outputs = [tmp_path / f"report.{suffix}" for suffix in ("json", "csv", "html")]
    run = msprobe("compare", *flags(pair), *[part for path in outputs for part in ("-o", path)])
    assert run.code == 0 and all(path.stat().st_size > 1000 for path in outputs)
    assert all(f"report: {path}" in run.out for path in outputs)
    assert outputs[1].read_bytes().startswith(b"\xef\xbb\xbf")
