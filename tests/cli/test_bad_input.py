"""Bad input gets one clear line with a code, and nothing is lost: what can still be compared is compared."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy
import pytest

from conftest import Program, check_error
from dump_tree import Dump, scalar
from tensor_files import npy_bytes, pt_bytes, pt_dict, pt_tensor, write_bin, write_npy, write_pt

VALUES = numpy.arange(1, 25, dtype="<f4").reshape(2, 3, 4)


@pytest.fixture
def pair(tmp_path):
    """Two equal folders of two tensors: a and b."""
    for side in ("ref", "target"):
        write_npy(tmp_path / side / "a.npy", VALUES)
        write_npy(tmp_path / side / "b.npy", VALUES * 2)
    return tmp_path / "ref", tmp_path / "target"


def small_tree(folder, change=lambda dump: None):
    """A step with one rank: three calls of a network."""
    dump = Dump(folder / "step0" / "rank0")
    source = ("/home/user/net.py", 12, "forward")
    dump.call("Functional.linear.0.forward", [VALUES, VALUES * 2], [VALUES * 3], source=source)
    dump.call("Functional.relu.0.forward", [VALUES * 3, scalar(False)], [VALUES * 4], source=source)
    dump.call("Functional.linear.1.forward", [VALUES * 4, VALUES * 5], [VALUES * 6], source=source)
    change(dump)
    return dump.write()


@pytest.fixture
def trees(tmp_path):
    return small_tree(tmp_path / "ref"), small_tree(tmp_path / "target")


# ---- truncated files ----

NPY = npy_bytes(VALUES.tobytes(), "<f4", VALUES.shape)


@pytest.mark.parametrize("size", [0, 1, 5, 6, 7, 9, 10, 60, 127, 128, 129, 200, len(NPY) - 1])
def test_a_truncated_npy_says_expected_and_found_bytes(msprobe, tmp_path, size):
    whole = write_npy(tmp_path / "whole.npy", VALUES)
    cut = tmp_path / "cut.npy"
    cut.write_bytes(NPY[:size])
    line = msprobe.error("compare", "-r", whole, "-t", cut, code="E4002", mentions=[cut])
    expected, found = map(int, re.search(r"expected (\d+) bytes?, found (\d+)", line).groups())
    assert found == size and size < expected <= len(NPY)
    if size >= 128:  # the header is whole: it says how much there should be
        assert expected == len(NPY)


@pytest.mark.parametrize("size", range(0, 128, 3))
def test_no_cut_in_an_npy_header_is_taken_for_data(msprobe, tmp_path, size):
    cut = tmp_path / "cut.npy"
    cut.write_bytes(NPY[:size])
    msprobe.error("compare", "-r", cut, "-t", write_npy(tmp_path / "whole.npy", VALUES), code="E4002", mentions=["expected", "found"])


PT = pt_bytes(pt_tensor("FloatStorage", "0", 24, VALUES.shape), {"0": VALUES.tobytes()})


@pytest.mark.parametrize("size", [0, 1, 3, 4, 30, 100, len(PT) // 2, len(PT) - 40, len(PT) - 22, len(PT) - 1])
def test_a_truncated_pt_says_how_many_bytes_were_found(msprobe, tmp_path, size):
    whole = write_pt(tmp_path / "whole.pt", VALUES)
    cut = tmp_path / "cut.pt"
    cut.write_bytes(PT[:size])
    line = msprobe.error("compare", "-r", whole, "-t", cut, code="E4002", mentions=[cut, "cut short"])
    assert re.search(rf"\b{size}\b", line)


def test_a_pt_whose_storage_is_too_short_says_expected_and_found(msprobe, tmp_path):
    short = tmp_path / "short.pt"
    short.write_bytes(pt_bytes(pt_tensor("FloatStorage", "0", 24, VALUES.shape), {"0": VALUES.tobytes()[:-4]}))
    line = msprobe.error("compare", "-r", short, "-t", short, code="E4002")
    assert "expected 96 bytes, found 92" in line


def test_a_truncated_bin_is_told_by_its_side_file(msprobe, tmp_path):
    cut = write_bin(tmp_path / "x.bin", VALUES.tobytes()[:50], "f32", VALUES.shape)
    line = msprobe.error("compare", "-r", cut, "-t", cut, code="E4002")
    assert "expected 96 bytes, found 50" in line


def test_a_bin_of_half_an_element_does_not_fit(msprobe, tmp_path):
    cut = write_bin(tmp_path / "x.bin", VALUES.tobytes()[:50])
    msprobe.error("compare", "-r", cut, "-t", cut, code="E4010", mentions=["50", "f32", "--dtype"])


def test_a_bin_larger_than_its_shape_does_not_fit(msprobe, tmp_path):
    long = write_bin(tmp_path / "x.bin", VALUES, "f32", [2, 3])
    msprobe.error("compare", "-r", long, "-t", long, code="E4010", mentions=["24", "96"])


def test_one_truncated_file_of_a_folder_is_a_row_with_verdict_error_and_the_others_are_compared(msprobe, pair):
    (pair[1] / "b.npy").write_bytes(NPY[:-10])
    run = msprobe.compare(*pair)
    assert run.code == 3 and run.summary["incomplete"] is True and run.summary["passed"] is False
    assert run.row("a")["verdict"] == "pass"
    broken = run.row("b")
    assert (broken["verdict"], broken["code"], broken["error"]) == ("error", "E4002", "Infinity")
    assert f"expected {len(NPY)} bytes, found {len(NPY) - 10}" in broken["why"] and "target" in broken["why"]
    assert run.summary["compared"] == 1 and run.summary["error"] == 1
    assert run.summary["max_error"] == "Infinity", "a CI script that looks at max_error must see it"


@pytest.mark.parametrize("size", [0, 7, len(PT) // 2, len(PT) - 1])
def test_a_truncated_tensor_of_a_dump_is_an_error_never_a_pass(msprobe, trees, size):
    """Trap 3 of the peer: a missing, empty or truncated .pt passes there."""
    broken = trees[1] / "dump_tensor_data" / "Functional.relu.0.forward.output.0.pt"
    broken.write_bytes(broken.read_bytes()[:size])
    run = msprobe.compare(*trees)
    row = run.row("Functional.relu.0.forward.output.0")
    assert run.code == 3 and row["verdict"] == "error" and row["code"] == "E4002" and str(size) in row["why"]
    assert run.summary["pass"] == len(run.rows) - 1


def test_a_failing_row_wins_over_incomplete(msprobe, pair):
    (pair[1] / "b.npy").write_bytes(NPY[:-10])
    write_npy(pair[1] / "a.npy", VALUES * 3)
    assert msprobe.compare(*pair).code == 1


# ---- nothing there, too much there ----

def test_a_path_that_does_not_exist_is_named(msprobe, pair, tmp_path):
    for flags in (("-r", tmp_path / "nosuch", "-t", pair[1]), ("-r", pair[0], "-t", tmp_path / "nosuch")):
        msprobe.error("compare", *flags, code="E1003", mentions=[tmp_path / "nosuch"])


def test_an_empty_folder_is_an_error(msprobe, pair, tmp_path):
    (tmp_path / "empty").mkdir()
    msprobe.error("compare", "-r", pair[0], "-t", tmp_path / "empty", code="E4003", mentions=[tmp_path / "empty"])


@pytest.mark.parametrize("task", ["statistics", "tensor"])
def test_a_folder_above_dumps_names_the_dump_below_it(msprobe, tmp_path, task):
    for side in ("ref", "runs/today"):
        Dump(tmp_path / side / "step0/rank0", task=task).call("Functional.relu.0.forward", [], [VALUES]).write()
    msprobe.error("compare", "-r", tmp_path / "ref", "-t", tmp_path / "runs", code="E4003", mentions=[tmp_path / "runs/today"])


def test_the_same_path_on_both_sides_is_a_warning(msprobe, pair, tmp_path):
    (tmp_path / "link").symlink_to(pair[0])
    for other in (pair[0], f"{pair[0]}/../ref/", tmp_path / "link"):
        run = msprobe.compare(pair[0], other)
        assert run.code == 0 and run.summary["passed"] is True
        assert run.err.count("msprobe: warning") == 1 and "same" in run.err


def test_other_paths_give_no_warning(msprobe, pair):
    assert msprobe.compare(*pair).err == ""


def test_two_dumps_in_one_step_are_listed_with_the_way_to_name_one(msprobe, tmp_path):
    small_tree(tmp_path / "ref")
    for name in ("proc111", "proc222"):
        shutil.copytree(tmp_path / "ref/step0/rank0", tmp_path / "target/step0" / name)
    line = msprobe.error("compare", "-r", tmp_path / "ref", "-t", tmp_path / "target", code="E4004", mentions=["proc111", "proc222"])
    named = re.search(r"example (\S+)", line)[1]
    assert msprobe.compare(tmp_path / "ref/step0/rank0", named).code == 0


def test_a_file_that_is_no_tensor_is_not_a_known_format(msprobe, pair, tmp_path):
    other = tmp_path / "photo.jpg"
    other.write_bytes(b"\xff\xd8\xff\xe0" + bytes(500))
    msprobe.error("compare", "-r", pair[0] / "a.npy", "-t", other, code="E4001", mentions=[other])


def test_files_that_are_no_tensors_do_not_disturb_a_folder(msprobe, pair):
    (pair[1] / "notes.txt").write_text("hello")
    (pair[1] / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(500))
    run = msprobe.compare(*pair)
    assert run.code == 0 and len(run.rows) == 2


# ---- dump.json ----

def test_a_file_missing_in_a_dump_is_a_row_with_verdict_error(msprobe, trees):
    (trees[1] / "dump_tensor_data" / "Functional.relu.0.forward.output.0.pt").unlink()
    run = msprobe.compare(*trees)
    row = run.row("Functional.relu.0.forward.output.0")
    assert run.code == 3 and (row["verdict"], row["code"]) == ("error", "E4005") and "missing" in row["why"]
    assert run.summary["error"] == 1 and run.summary["pass"] == len(run.rows) - 1


def test_a_missing_data_folder_is_an_error_in_every_row(msprobe, trees):
    shutil.rmtree(trees[1] / "dump_tensor_data")
    run = msprobe.compare(*trees)
    assert run.code == 3
    assert {row["verdict"] for row in run.rows if row["kind"] == "tensor"} == {"error"}


def test_data_name_minus_one_means_that_saving_failed(msprobe, tmp_path):
    def fail_to_save(dump):
        dump.data["Functional.relu.0.forward"]["output"][0]["data_name"] = "-1"
    ref, target = small_tree(tmp_path / "ref"), small_tree(tmp_path / "target", fail_to_save)
    run = msprobe.compare(ref, target)
    row = run.row("Functional.relu.0.forward.output.0")
    assert run.code == 3 and (row["verdict"], row["code"]) == ("error", "E4005") and "-1" in row["why"]


@pytest.mark.parametrize("name", ["../secret.pt", "/etc/passwd", "a/../../secret.pt", ".."])
def test_data_name_must_not_lead_out_of_the_dump(msprobe, tmp_path, name):
    write_pt(tmp_path / "target/step0/rank0/secret.pt", VALUES * 4)

    def lead_out(dump):
        dump.data["Functional.relu.0.forward"]["output"][0]["data_name"] = name
    run = msprobe.compare(small_tree(tmp_path / "ref"), small_tree(tmp_path / "target", lead_out))
    row = run.row("Functional.relu.0.forward.output.0")
    assert run.code == 3 and (row["verdict"], row["code"]) == ("error", "E4013")


@pytest.mark.parametrize("part", [0.3, 0.5, 0.7, 0.95])
def test_a_dump_json_that_is_cut_off_is_used_as_far_as_it_goes(msprobe, trees, part):
    text = (trees[1] / "dump.json").read_text()
    whole = [len(text[:text.index(f'"{name}"')]) for name in json.loads(text)["data"]]
    cut = int(len(text) * part)
    (trees[1] / "dump.json").write_text(text[:cut])
    calls = sum(begin < cut for begin in whole) - 1  # the last one that began is not whole
    if calls < 1:
        msprobe.error("compare", "-r", trees[0], "-t", trees[1], code="E4008", mentions=["cut off"])
        return
    run = msprobe.compare(*trees)
    assert run.code == 3 and run.summary["incomplete"] is True and run.summary["fail"] == 0
    assert run.report["inputs"]["target"]["incomplete"] is True and run.report["inputs"]["reference"]["incomplete"] is False
    assert len({row["call_name"] for row in run.rows if row["verdict"] == "pass"}) == calls
    assert len({row["call_name"] for row in run.rows if row["target"] is None}) == 3 - calls
    assert any("cut off" in note and str(cut) in note for note in run.report["inputs"]["target"]["notes"])


def test_a_cut_dump_with_a_failing_row_exits_1(msprobe, trees):
    text = (trees[1] / "dump.json").read_text()
    write_pt(trees[1] / "dump_tensor_data/Functional.linear.0.forward.output.0.pt", VALUES * 9)
    (trees[1] / "dump.json").write_text(text[:int(len(text) * 0.7)])
    run = msprobe.compare(*trees)
    assert run.code == 1 and run.summary["incomplete"] is True


@pytest.mark.parametrize("text", ["", "{", "not json", "[1, 2]", '{"task": "tensor"}', '"data"'])
def test_a_dump_json_without_any_call_is_an_error(msprobe, trees, text):
    (trees[1] / "dump.json").write_text(text)
    msprobe.error("compare", "-r", trees[0], "-t", trees[1], code="E4008", mentions=[trees[1] / "dump.json"])


def test_dumps_without_a_call_compare_nothing_and_exit_3(msprobe, tmp_path):
    for side in ("ref", "target"):
        Dump(tmp_path / side).write()
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert run.code == 3 and run.rows == [] and run.summary["passed"] is False
    assert run.summary["max_error"] is None and "Nothing was compared" in run.report["findings"][-1]["text"]


def test_bare_nan_and_infinity_in_dump_json_are_read(msprobe, tmp_path):
    for side in ("ref", "target"):
        dump = Dump(tmp_path / side, task="statistics")
        dump.call("Functional.relu.0.forward", [], [VALUES])
        dump.data["Functional.relu.0.forward"]["output"][0].update(Max=float("inf"), Mean=float("nan"), Min=float("-inf"))
        text = (dump.write() / "dump.json").read_text()
        assert "NaN" in text and "-Infinity" in text
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert run.code == 0 and run.only["verdict"] == "warn"  # NaN on both sides
    assert run.only["reference"]["statistics"] == {"max": "Infinity", "min": "-Infinity", "mean": "NaN", "norm": 70}


def test_deep_json_does_not_end_the_program(msprobe, trees):
    text = json.dumps(json.loads((trees[1] / "dump.json").read_text()))
    (trees[1] / "dump.json").write_text(text.replace('"input_kwargs": {}', '"input_kwargs": {"k": ' + "[" * 100000 + "]" * 100000 + "}", 1))
    run = msprobe.compare(*trees)
    assert run.code in (0, 1, 2, 3)
    if run.code == 2:
        assert run.err.startswith("msprobe: error E4008: ") and run.err.count("\n") == 1


def test_a_missing_stack_or_construct_json_is_only_a_note(msprobe, trees):
    for name in ("stack.json", "construct.json"):
        (trees[1] / name).unlink()
    run = msprobe.compare(*trees)
    assert run.code == 0
    notes = " ".join(run.report["inputs"]["target"]["notes"])
    assert "stack.json is missing" in notes and "construct.json is missing" in notes


# ---- objects are refused, nothing is executed ----

def pickle_call(module, name, argument):
    """A pickle that calls module.name(argument) when it is loaded."""
    return f"\x80\x02c{module}\n{name}\nX{chr(len(argument))}\0\0\0{argument}\x85R.".encode("latin-1")


@pytest.mark.parametrize("module,name", [("os", "system"), ("posix", "system"), ("builtins", "eval"), ("subprocess", "getoutput")])
def test_a_malicious_pt_is_refused_and_never_executed(msprobe, pair, tmp_path, module, name):
    witness = tmp_path / "executed"
    argument = f"__import__('os').mknod('{witness}')" if name == "eval" else f"touch {witness}"
    evil = tmp_path / "evil.pt"
    evil.write_bytes(pt_bytes(pickle_call(module, name, argument[:255])[2:-1], {}))
    msprobe.error("compare", "-r", pair[0] / "a.npy", "-t", evil, code="E4006", mentions=[name, evil])
    assert not witness.exists()
    # The witness works: Python would have executed it.
    import pickle
    if name == "system":
        pickle.loads(pickle_call(module, name, argument[:255]))
        assert witness.exists()


def test_an_unknown_pickle_in_a_folder_is_a_row_with_verdict_error_that_names_what_it_wants(msprobe, pair):
    (pair[1] / "c.pt").write_bytes(pt_bytes(b"cmymodel\nNet\n)R", {}))
    write_pt(pair[0] / "c.pt", VALUES)
    run = msprobe.compare(*pair)
    row = run.row("c")
    assert run.code == 3 and (row["verdict"], row["code"]) == ("error", "E4006") and "mymodel" in row["why"]
    assert run.row("a")["verdict"] == run.row("b")["verdict"] == "pass"


def test_object_arrays_are_refused(msprobe, pair, tmp_path):
    objects = write_npy(tmp_path / "objects.npy", numpy.array([{"a": 1}, None], dtype=object))
    msprobe.error("compare", "-r", pair[0] / "a.npy", "-t", objects, code="E4006", mentions=[objects, "object"])


def test_an_object_array_is_never_unpickled(msprobe, tmp_path):
    witness = tmp_path / "executed"
    evil = tmp_path / "evil.npy"
    evil.write_bytes(npy_bytes(pickle_call("os", "system", f"touch {witness}"[:255]), "|O", (1,)))
    msprobe.error("compare", "-r", evil, "-t", evil, code="E4006")
    assert not witness.exists()


@pytest.mark.parametrize("array", [numpy.array(["text", "b"]), numpy.array([b"raw"]), numpy.zeros(3, "M8[s]"),
                                   numpy.zeros(2, [("a", "<f4"), ("b", "<i4")])], ids=["unicode", "bytes", "dates", "records"])
def test_arrays_that_are_no_numbers_are_refused(msprobe, tmp_path, array):
    path = write_npy(tmp_path / "x.npy", array)
    code = "E4006" if array.dtype.names else "E4009"
    msprobe.error("compare", "-r", path, "-t", path, code=code, mentions=["dtype"])


@pytest.mark.parametrize("text", [
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
    "{'descr': '<f4', 'fortran_order': False, }",
    "{'descr': '<f4', 'fortran_order': 7, 'shape': (2,), }",
    "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (2,), }",
    "not a dict at all",
    "{" * 5000,
], ids=["negative", "overflow", "no shape", "order", "code", "text", "braces"])
def test_an_npy_header_that_makes_no_sense_is_malformed(msprobe, tmp_path, text):
    path = tmp_path / "x.npy"
    path.write_bytes(npy_bytes(VALUES.tobytes(), "<f4", (24,), text=text))
    msprobe.error("compare", "-r", path, "-t", path, code="E4007", mentions=[path])


def test_an_npy_of_an_unknown_version_is_malformed(msprobe, tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(NPY[:6] + b"\x09" + NPY[7:])
    msprobe.error("compare", "-r", path, "-t", path, code="E4007", mentions=["version 9"])


@pytest.mark.parametrize("strides,offset,code", [((1000, 1), 0, "E4002"), ((3, 1), 1 << 40, "E4002"), ((3, 1), 19, "E4002"),
                                                 ((-1, 1), 0, "E4007"), ((1 << 62, 1), 0, "E4007"), ((3, 1), -1, "E4007")])
def test_a_pt_whose_strides_lead_out_of_its_storage_is_refused(msprobe, tmp_path, strides, offset, code):
    path = tmp_path / "x.pt"
    path.write_bytes(pt_bytes(pt_tensor("FloatStorage", "0", 24, (2, 3), strides, offset), {"0": VALUES.tobytes()}))
    msprobe.error("compare", "-r", path, "-t", path, code=code, mentions=[path])


# ---- differences that are no errors of the files ----

def test_shapes_that_differ_fail_with_both_shapes_and_the_rest_is_compared(msprobe, pair):
    write_npy(pair[1] / "b.npy", (VALUES * 2).reshape(3, 2, 4))
    run = msprobe.compare(*pair)
    row = run.row("b")
    assert run.code == 1 and row["verdict"] == "fail" and row["error"] == "Infinity"
    assert "[2, 3, 4]" in row["why"] and "[3, 2, 4]" in row["why"]
    assert all(value is None for value in row["metrics"].values())
    assert run.row("a")["verdict"] == "pass"


def test_two_files_of_one_name_are_both_rows_that_say_the_file(msprobe, pair):
    for side in pair:
        write_pt(side / "a.pt", VALUES * 5)
    run = msprobe.compare(*pair)
    assert run.code == 0 and sorted(row["name"] for row in run.rows) == ["a.npy", "a.pt", "b"]
    assert run.summary["compared"] == 3


def test_calls_of_one_name_in_dump_json_are_all_kept(msprobe, tmp_path):
    """A key twice in one JSON object: a dictionary would drop the first."""
    for side, factor in (("ref", 1), ("target", 2)):
        folder = Dump(tmp_path / side, task="statistics").call("Functional.relu.0.forward", [], [VALUES]).write()
        first = json.loads((folder / "dump.json").read_text())
        second = Dump(tmp_path / "other", task="statistics").call("Functional.relu.0.forward", [], [VALUES * factor]).data
        text = json.dumps(first)[:-2] + ", " + json.dumps(second)[1:] + "}"
        (folder / "dump.json").write_text(text)
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert [row["verdict"] for row in run.rows] == ["pass", "fail"] and run.code == 1


def test_names_that_occur_twice_in_a_pt_are_both_kept(msprobe, tmp_path):
    item = lambda key: pt_tensor("FloatStorage", key, 24, (24,))
    path = tmp_path / "x.pt"
    path.write_bytes(pt_bytes(pt_dict([("a.b", item("0")), ("a", pt_dict([("b", item("1"))]))]), {"0": VALUES.tobytes(), "1": VALUES.tobytes()}))
    run = msprobe.compare(path, path)
    assert len(run.rows) == 2 and len({row["name"] for row in run.rows}) == 2


# ---- permissions: as a user without rights ----

@pytest.fixture
def nobody():
    """The program as nobody (a copy: its own folder may be closed to others) and a folder that nobody may enter."""
    if os.geteuid() != 0:
        yield Program(pathlib.Path(tempfile.mkdtemp())), {}
        return
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    program = Program(folder)
    installed = pathlib.Path(program.path).resolve().parents[1]
    (folder / "bin").mkdir()
    shutil.copy(program.path, folder / "bin")
    shutil.copytree(installed / "lib/msprobe/plugins", folder / "lib/msprobe/plugins")
    program.path = str(folder / "bin" / pathlib.Path(program.path).name)
    try:
        subprocess.run([program.path, "--version"], user=65534, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError, subprocess.SubprocessError):
        shutil.rmtree(folder)
        pytest.skip("the user nobody cannot run programs here")
    yield program, {"user": 65534, "group": 65534, "extra_groups": []}
    shutil.rmtree(folder)


def run_as(nobody, *arguments):
    from conftest import Run
    program, user = nobody
    done = subprocess.run([program.path, *map(str, arguments)], capture_output=True, env=program.env, **user)
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_file_that_may_not_be_read_is_named(nobody):
    path = write_npy(nobody[0].home / "x.npy", VALUES)
    path.chmod(0)
    check_error(run_as(nobody, "compare", "-r", path, "-t", path), "E1004", [path])


def test_a_folder_that_may_not_be_read_is_named(nobody):
    write_npy(nobody[0].home / "dump/x.npy", VALUES)
    (nobody[0].home / "dump").chmod(0)
    check_error(run_as(nobody, "compare", "-r", nobody[0].home / "dump", "-t", nobody[0].home / "dump"), "E1004", ["dump"])


def test_a_tensor_that_may_not_be_read_is_a_row_with_verdict_error(nobody):
    home = nobody[0].home
    ref, target = small_tree(home / "ref"), small_tree(home / "target")
    (target / "dump_tensor_data/Functional.relu.0.forward.output.0.pt").chmod(0)
    run = run_as(nobody, "compare", "-r", ref, "-t", target, "-o", "-")
    row = run.row("Functional.relu.0.forward.output.0")
    assert run.code == 3 and (row["verdict"], row["code"]) == ("error", "E1004")
    assert run.summary["pass"] == len(run.rows) - 1


def test_a_report_in_a_folder_that_may_not_be_written_is_refused_at_once(nobody):
    home = nobody[0].home
    path = write_npy(home / "x.npy", VALUES)
    (home / "closed").mkdir(mode=0o555)
    check_error(run_as(nobody, "compare", "-r", path, "-t", path, "-o", home / "closed/report.json"), "E1002", [home / "closed"])
