"""The same input gives the same bytes, whatever the number of workers."""
import json
import re

import numpy
import pytest

from tensor_files import write_npy

SUFFIXES = ("json", "csv", "html")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Tensors of many blocks beside many small ones, so that workers share and steal."""
    folder = tmp_path_factory.mktemp("large")
    generator = numpy.random.default_rng(8)
    for name, size, dtype in (("a", 3_000_001, "f4"), ("b", 1_500_000, "f8"), ("c", 2_000_003, "f2"), ("d", 70_000, "i4"), ("e", 5000, "c16")):
        values = (generator.normal(size=size) * 100).astype(dtype)
        write_npy(folder / "ref" / f"{name}.npy", values)
        other = values.copy()
        other[::7] += (other[::7] / 50).astype(dtype)
        write_npy(folder / "target" / f"{name}.npy", other)
    for i in range(60):
        values = generator.normal(size=i).astype("f4")
        write_npy(folder / "ref" / f"small{i}.npy", values)
        write_npy(folder / "target" / f"small{i}.npy", numpy.nextafter(values, numpy.float32(9)))
    return folder


def reports(msprobe, reference, target, folder, *options, **env):
    """The bytes of all formats."""
    paths = [folder / f"report.{suffix}" for suffix in SUFFIXES]
    run = msprobe("compare", "-r", reference, "-t", target, *[part for path in paths for part in ("-o", path)], *options, **env)
    assert run.code in (0, 1), run.err
    return {path.suffix[1:]: path.read_bytes() for path in paths}


def without_times(content):
    """What may differ between two runs: started, seconds and the command."""
    text = content.decode("utf-8-sig")
    text = re.sub(r'"started": "[^"]*"', '"started": ""', text)
    text = re.sub(r'"seconds": [-+0-9.e]+', '"seconds": 0', text)
    return re.sub(r'"command": \[[^\]]*\]', '"command": []', text)


def test_json_csv_and_html_are_the_same_for_1_2_and_8_workers(msprobe, large, tmp_path):
    first, *others = [reports(msprobe, large / "ref", large / "target", tmp_path, "-j", jobs, SOURCE_DATE_EPOCH="1700000000") for jobs in ("1", "2", "8")]
    for other in others:
        for suffix in SUFFIXES:
            assert without_times(first[suffix]) == without_times(other[suffix]), suffix
    assert len(json.loads(first["json"])["rows"]) == 65


def test_the_csv_has_no_times_at_all(msprobe, large, tmp_path):
    assert len({reports(msprobe, large / "ref", large / "target", tmp_path, "-j", jobs)["csv"] for jobs in "12"}) == 1


def test_a_real_dump_pair_gives_the_same_report_for_any_number_of_workers(msprobe, samples, tmp_path):
    pair = samples / "samples/enc_eps_tensor_mix"
    texts = {without_times(reports(msprobe, pair / "ref", pair / "target", tmp_path, "-j", jobs)["json"]) for jobs in ("1", "2", "8")}
    assert len(texts) == 1


def test_source_date_epoch_is_the_time_of_the_report(msprobe, large, tmp_path):
    report = json.loads(reports(msprobe, large / "ref/small3.npy", large / "target/small3.npy", tmp_path, SOURCE_DATE_EPOCH="1700000000")["json"])
    assert report["started"] == "2023-11-14T22:13:20Z"


def test_two_runs_of_one_command_differ_only_in_the_seconds_they_took(msprobe, large, tmp_path):
    runs = [reports(msprobe, large / "ref", large / "target", tmp_path, SOURCE_DATE_EPOCH="1700000000") for _ in range(2)]
    for suffix in SUFFIXES:
        left, right = (re.sub(rb'"seconds": [-+0-9.e]+', b"", run[suffix]) for run in runs)
        assert left == right, suffix


def test_a_shuffled_listing_of_the_folder_changes_nothing(msprobe, large, tmp_path):
    """Files written in another order lie in another order in the folder."""
    for side in ("ref", "target"):
        (tmp_path / side).mkdir()
        for path in sorted((large / side).iterdir(), reverse=True):
            (tmp_path / side / path.name).write_bytes(path.read_bytes())
    left, right = (reports(msprobe, folder / "ref", folder / "target", tmp_path)["csv"] for folder in (large, tmp_path))
    assert left == right


def test_the_folder_a_program_is_started_in_changes_nothing(msprobe, large, tmp_path):
    run = msprobe("compare", "-r", "ref", "-t", "target", "-o", "-", cwd=large)
    other = msprobe("compare", "-r", large / "ref", "-t", large / "target", "-o", "-", cwd=tmp_path)
    assert run.rows == other.rows
