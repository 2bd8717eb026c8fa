"""`msprobe compare -r gpu_input.bin -t npu_input.bin`: whether both runs had the same input."""
import itertools
import json

import numpy
import pytest

from tensor_files import to_bf16, write_bin, write_npy, write_pt

VALUES = numpy.linspace(-4, 4, 24, dtype="<f4").reshape(2, 3, 4)


@pytest.fixture
def files(tmp_path, monkeypatch):
    write_bin(tmp_path / "gpu_input.bin", VALUES)
    write_bin(tmp_path / "npu_input.bin", VALUES)
    return tmp_path


def test_two_equal_inputs_of_other_names_pass_without_any_flag(msprobe, files):
    run = msprobe("compare", "-r", "gpu_input.bin", "-t", "npu_input.bin", cwd=files)
    assert run.code == 0 and "PASS" in run.out and run.err == ""


def test_one_other_element_is_found_and_told(msprobe, files):
    wrong = VALUES.copy()
    wrong[1, 0, 2] += 0.5
    write_bin(files / "npu_input.bin", wrong)
    run = msprobe("compare", "-r", "gpu_input.bin", "-t", "npu_input.bin", cwd=files)
    assert run.code == 1 and "FAIL" in run.out and "input" in run.out
    row = msprobe.compare(files / "gpu_input.bin", files / "npu_input.bin").only
    assert row["metrics"]["max_abs"] == pytest.approx(0.5, rel=1e-6) and row["metrics"]["max_abs_index"] == 14
    assert row["reference"]["dtype"] == row["target"]["dtype"] == "f32" and row["reference"]["shape"] == [24]


def test_both_names_are_in_the_report(msprobe, files):
    run = msprobe.compare(files / "gpu_input.bin", files / "npu_input.bin")
    assert run.only["reference"]["name"] == "gpu_input" and run.only["target"]["name"] == "npu_input"
    assert run.report["inputs"]["reference"]["path"].endswith("gpu_input.bin")


def test_dtype_and_shape_come_from_flags(msprobe, files):
    run = msprobe.compare(files / "gpu_input.bin", files / "npu_input.bin", "--dtype", "i16", "--shape", "2,24")
    assert run.only["reference"] == {**run.only["reference"], "dtype": "i16", "shape": [2, 24]}
    assert run.report["options"]["dtype"] == "i16" and run.report["options"]["shape"] == "2,24"
    wrong = VALUES.copy()
    wrong[1, 2, 0] = 99
    write_bin(files / "npu_input.bin", wrong)
    row = msprobe.compare(files / "gpu_input.bin", files / "npu_input.bin", "--shape", "2,3,4").only
    assert row["metrics"]["max_abs_at"] == "[1, 2, 0]"


def test_a_shape_that_does_not_fit_is_refused(msprobe, files):
    msprobe.error("compare", "-r", "gpu_input.bin", "-t", "npu_input.bin", "--shape", "2,3", code="E4010", cwd=files, mentions=["96", "24"])
    msprobe.error("compare", "-r", "gpu_input.bin", "-t", "npu_input.bin", "--shape", "2,30", code="E4010", cwd=files, mentions=["240", "96"])


@pytest.mark.parametrize("side_name", ["{}.bin.json", "{}.json"])
def test_dtype_and_shape_come_from_a_side_file(msprobe, files, side_name):
    for name in ("gpu_input", "npu_input"):
        (files / f"{name}.bin").write_bytes(to_bf16(VALUES))
        (files / side_name.format(name)).write_text(json.dumps({"dtype": "bf16", "shape": [4, 6]}))
    row = msprobe.compare(files / "gpu_input.bin", files / "npu_input.bin").only
    assert row["reference"]["dtype"] == "bf16" and row["reference"]["shape"] == [4, 6] and row["verdict"] == "pass"


def test_each_side_has_its_own_side_file(msprobe, files):
    (files / "npu_input.bin").write_bytes(VALUES.astype("<f2").tobytes())
    (files / "npu_input.bin.json").write_text('{"dtype": "float16"}')
    row = msprobe.compare(files / "gpu_input.bin", files / "npu_input.bin", "--error-threshold", "1e-3").only
    assert (row["reference"]["dtype"], row["target"]["dtype"], row["verdict"]) == ("f32", "f16", "pass")


def test_flags_win_over_side_files(msprobe, files):
    for name in ("gpu_input", "npu_input"):
        (files / f"{name}.bin.json").write_text('{"dtype": "f16", "shape": [48]}')
    row = msprobe.compare(files / "gpu_input.bin", files / "npu_input.bin", "--dtype", "u8", "--shape", "96").only
    assert row["reference"]["dtype"] == "u8" and row["reference"]["shape"] == [96]


@pytest.mark.parametrize("text", ["{", "[]", '{"dtype": 5}', '{"shape": [2, -1]}', '{"shape": "2,3"}'])
def test_a_side_file_that_makes_no_sense_is_named(msprobe, files, text):
    (files / "npu_input.bin.json").write_text(text)
    msprobe.error("compare", "-r", "gpu_input.bin", "-t", "npu_input.bin", code="E4007", cwd=files, mentions=["npu_input.bin.json"])


def test_a_side_file_with_an_unknown_dtype_lists_the_known(msprobe, files):
    (files / "npu_input.bin.json").write_text('{"dtype": "float33"}')
    msprobe.error("compare", "-r", "gpu_input.bin", "-t", "npu_input.bin", code="E4009", cwd=files, mentions=["float33", "bf16"])


@pytest.mark.parametrize("left,right", itertools.product(["npy", "pt", "bin"], repeat=2))
def test_files_of_any_two_formats_answer_each_other(msprobe, tmp_path, left, right):
    write = {"npy": write_npy, "pt": write_pt, "bin": write_bin}
    a, b = write[left](tmp_path / f"a.{left}", VALUES), write[right](tmp_path / f"b.{right}", VALUES)
    run = msprobe.compare(a, b, "--shape", "2,3,4")
    assert run.code == 0 and run.only["error"] == 0 and run.only["metrics"]["elements"] == 24


def test_an_empty_bin_is_an_empty_tensor_or_an_error_but_no_pass_against_data(msprobe, files):
    (files / "npu_input.bin").write_bytes(b"")
    run = msprobe.compare(files / "gpu_input.bin", files / "npu_input.bin")
    assert run.code in (1, 2) and (run.code == 2 or run.only["verdict"] == "fail")


def test_a_file_against_a_folder_is_compared_by_name(msprobe, files):
    """A file is a dump of one tensor."""
    write_npy(files / "folder/gpu_input.npy", VALUES.ravel())
    run = msprobe.compare(files / "gpu_input.bin", files / "folder")
    assert run.code == 0 and run.only["name"] == "gpu_input"


def test_names_that_look_like_options_can_be_given(msprobe, tmp_path):
    write_npy(tmp_path / "-x.npy", VALUES)
    assert msprobe("compare", "-r", "./-x.npy", "-t", "./-x.npy", cwd=tmp_path).code == 0
    assert msprobe("compare", "--reference=-x.npy", "--target=-x.npy", cwd=tmp_path).code == 0


def test_files_of_a_pipe_are_refused_not_waited_for(msprobe, files):
    import os
    os.mkfifo(files / "pipe.bin")
    run = msprobe("compare", "-r", files / "gpu_input.bin", "-t", files / "pipe.bin", timeout=10)
    assert run.code == 2 and run.err.startswith("msprobe: error E")
