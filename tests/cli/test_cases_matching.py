"""Cases 34 to 47, 67 and 70 and the corpus D of docs (cases.md): names, pairing, order, and outputs that survive any name."""
import csv
import io
import json
import re
import shutil

import numpy
import pytest

from dump_tree import Dump
from tensor_files import write_npy

VALUES = numpy.arange(1, 9, dtype="<f4")


def folders(tmp_path, reference, target):
    for side, names in (("ref", reference), ("target", target)):
        for name in names:
            write_npy(tmp_path / side / f"{name}.npy", VALUES)
    return tmp_path / "ref", tmp_path / "target"


# ---- nothing is dropped, nothing is matched by likeness ----

@pytest.mark.parametrize("missing_in,count", [("target", "unmatched_reference"), ("ref", "unmatched_target")])
def test_a_tensor_that_one_side_lacks_is_a_row_and_exit_3(msprobe, tmp_path, missing_in, count):
    pair = folders(tmp_path, ["a", "b"], ["a", "b"])
    (tmp_path / missing_in / "b.npy").unlink()
    run = msprobe.compare(*pair)
    row = run.row("b")
    assert run.code == 3 and run.summary[count] == 1 and run.summary["passed"] is False and run.summary["incomplete"] is True
    assert row["verdict"] == "skip" and row["error"] is None
    assert (row["target"] is None) == (missing_in == "target") and (row["reference"] is None) == (missing_in == "ref")
    assert run.summary["compared"] == 1
    assert msprobe.compare(*pair, "--allow-unmatched").code == 0


def test_conv1_is_not_conv10_but_the_nearest(msprobe, tmp_path):
    run = msprobe.compare(*folders(tmp_path, ["conv1", "fc"], ["conv10", "fc"]))
    assert [row["name"] for row in run.rows] == ["conv1", "fc", "conv10"], "rows that only the target has come last"
    assert run.row("conv1")["target"] is None and "conv10" in run.row("conv1")["why"]
    assert run.row("conv10")["reference"] is None and "conv1" in run.row("conv10")["why"]
    assert run.summary["compared"] == 1 and run.code == 3


def test_unrelated_names_are_not_matched_by_position(msprobe, tmp_path):
    run = msprobe.compare(*folders(tmp_path, ["alpha", "beta"], ["gamma", "delta"]))
    assert run.code == 3 and run.summary["compared"] == 0
    assert run.summary["unmatched_reference"] == run.summary["unmatched_target"] == 2


def test_case_34_calls_of_one_operator_are_rows_of_their_own(msprobe, tmp_path):
    for side in ("ref", "target"):
        dump = Dump(tmp_path / side)
        for call in range(12):
            dump.call(f"Functional.relu.{call}.forward", [], [VALUES * (call + (side == "target") * (call == 11))])
        dump.write()
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert [row["call"] for row in run.rows] == list(range(12))
    assert [row["verdict"] for row in run.rows] == ["pass"] * 11 + ["fail"]
    assert {row["layer"] for row in run.rows} == {"Functional.relu"}


def test_case_36_names_that_look_alike_do_not_collide(msprobe, tmp_path):
    names = ["a/b", "a.b", "a_b", "a b", "A/b", "a-b"]
    run = msprobe.compare(*folders(tmp_path, names, names))
    assert run.code == 0 and sorted(row["name"] for row in run.rows) == sorted(names)


def test_case_36_the_same_file_of_two_ranks_and_steps_are_four_rows(msprobe, tmp_path):
    names = [f"step{step}/rank{rank}/x" for step in (0, 1) for rank in (0, 1)]
    run = msprobe.compare(*folders(tmp_path, names, names))
    assert [(row["step"], row["rank"], row["name"]) for row in run.rows] == [(s, r, "x") for s in (0, 1) for r in (0, 1)]
    assert run.code == 0


def test_case_39_rows_keep_the_execution_order_of_the_reference(msprobe, tmp_path):
    """The target has them in another order, names sort differently, and one is missing in the middle."""
    order = ["Functional.linear.10.forward", "Tensor.add.0.forward", "Functional.linear.2.forward", "Module.net.Net.forward.0"]
    for side, names in (("ref", order), ("target", [order[3], order[2], order[0]])):
        dump = Dump(tmp_path / side)
        for name in names:
            dump.call(name, [VALUES], [VALUES])
        dump.write()
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert list(dict.fromkeys(row["call_name"] for row in run.rows)) == order
    assert [row["index"] for row in run.rows] == list(range(len(run.rows)))


def test_files_are_ordered_as_people_count(msprobe, tmp_path):
    names = [f"layer{i}" for i in (0, 1, 2, 9, 10, 11, 100)]
    assert [row["name"] for row in msprobe.compare(*folders(tmp_path, names, names)).rows] == names


def test_case_38_one_bad_shape_does_not_end_the_run(msprobe, tmp_path):
    pair = folders(tmp_path, ["a", "b", "c"], ["a", "b", "c"])
    write_npy(pair[1] / "b.npy", numpy.ones((2, 2)))
    assert [row["verdict"] for row in msprobe.compare(*pair).rows] == ["pass", "fail", "pass"]


def test_one_rank_on_each_side_pairs_whatever_its_number(msprobe, tmp_path):
    for folder in ("ref/step0/proc1234", "target/step0/rank7"):
        Dump(tmp_path / folder).call("Functional.relu.0.forward", [], [VALUES]).write()
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert run.code == 0 and run.summary["compared"] == 1


def test_ranks_that_one_side_lacks_are_unmatched(msprobe, tmp_path):
    names = ["rank0/x", "rank1/x"]
    run = msprobe.compare(*folders(tmp_path, names, names + ["rank2/x"]))
    assert run.code == 3 and run.summary["unmatched_target"] == 1 and run.rows[-1]["rank"] == 2


def test_the_first_bad_row_is_the_earliest_in_step_and_execution_not_the_worst(msprobe, tmp_path):
    for side in ("ref", "target"):
        for step in (0, 1):
            dump = Dump(tmp_path / side / f"step{step}" / "rank0")
            for i, name in enumerate(("Functional.a.0.forward", "Functional.b.0.forward", "Functional.c.0.forward")):
                off = {0: 0, 1: 0.01, 2: 50}[i] if side == "target" else 0
                dump.call(name, [], [VALUES + off])
            dump.write()
    first = msprobe.compare(tmp_path / "ref", tmp_path / "target").summary["first_bad"]
    assert (first["step"], first["name"]) == (0, "Functional.b.0.forward.output.0")


def chain(folder, factors, nan_from=None):
    """in -> matmul -> norm -> relu -> head; `factors` multiply the outputs of the target."""
    dump, value = Dump(folder), VALUES
    for i, name in enumerate(("matmul", "layer_norm", "relu", "linear")):
        out = (value * 1.5 + i) * factors.get(name, 1)
        if nan_from and name == nan_from[0]:
            out = out.copy()
            out[3] = nan_from[1]
        elif nan_from and not numpy.isfinite(value).all():
            out = numpy.full_like(out, numpy.nan)
        dump.call(f"Functional.{name}.0.forward", [value], [out], source=("/home/user/net.py", 10 + i, "forward"))
        value = out.astype("f4")
    return dump.write()


def test_case_21_one_infinity_is_named_where_it_is_born_though_all_behind_it_is_nan(msprobe, tmp_path):
    chain(tmp_path / "ref", {})
    chain(tmp_path / "target", {}, ("matmul", numpy.inf))
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    first = run.summary["first_bad"]
    assert (first["name"], first["origin"]) == ("Functional.matmul.0.forward.output.0", True)
    assert run.row("Functional.linear.0.forward.output.0")["origin"] is False
    assert run.row("Functional.matmul.0.forward.output.0")["metrics"]["inf_target"] == 1
    assert run.row("Functional.layer_norm.0.forward.output.0")["metrics"]["nan_target"] == 8


def test_case_33_an_error_that_is_passed_on_is_told_from_one_that_is_born(msprobe, tmp_path):
    chain(tmp_path / "ref", {})
    chain(tmp_path / "target", {"layer_norm": 1.01})
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    origins = [row["name"] for row in run.rows if row["origin"] is True]
    assert origins == ["Functional.layer_norm.0.forward.output.0"]
    origin = next(finding for finding in run.report["findings"] if finding["code"] == "origin")
    assert "Functional.layer_norm" in origin["text"] and "net.py:11" in origin["text"]
    assert run.row("Functional.relu.0.forward.output.0")["origin"] is False
    assert any(finding["code"] == "passed_on" for finding in run.report["findings"])


def test_without_dumped_inputs_the_origin_is_unknown_and_order_decides(msprobe, tmp_path):
    for side, factor in (("ref", 1), ("target", 2)):
        dump = Dump(tmp_path / side)
        for i, name in enumerate("abc"):
            dump.call(f"Functional.{name}.0.forward", [], [VALUES * (factor if i else 1)])
        dump.write()
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert run.summary["first_bad"]["name"] == "Functional.b.0.forward.output.0"
    assert run.summary["first_bad"]["origin"] is None and {row["origin"] for row in run.rows} == {None}


def test_plain_files_have_no_noise_from_other_files(msprobe, tmp_path):
    """A bf16 file before an f32 file in the alphabet is nothing upstream."""
    for side, factor in (("ref", 1), ("target", 1.001)):
        write_npy(tmp_path / side / "a.npy", VALUES.astype("f2"))
        write_npy(tmp_path / side / "b.npy", (VALUES * factor).astype("f4"))
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert run.row("a")["threshold"] == 4 * 2**-11 and run.row("b")["threshold"] == 1e-5 and run.row("b")["verdict"] == "fail"


def test_noise_of_a_narrow_dtype_widens_the_thresholds_behind_it_only(msprobe, tmp_path):
    for side in ("ref", "target"):
        dump = Dump(tmp_path / side)
        dump.call("Functional.a.0.forward", [], [VALUES])
        dump.call("Functional.b.0.forward", [], [VALUES.astype("f2") if side == "target" else VALUES])
        dump.call("Functional.c.0.forward", [], [VALUES])
        dump.write()
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert [row["threshold"] for row in run.rows] == [1e-5, 4 * 2**-11, 4 * 2**-11]
    assert all(row["threshold_from"] for row in run.rows)


# ---- rows that say nothing ----

def test_outputs_of_uninitialised_memory_are_skipped_with_the_reason(msprobe, tmp_path):
    for side, factor in (("ref", 1), ("target", 7)):
        dump = Dump(tmp_path / side)
        dump.call("Torch.empty.0.forward", [], [VALUES * factor])
        dump.call("Functional.relu.0.forward", [VALUES], [VALUES])
        dump.write()
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    row = run.row("Torch.empty.0.forward.output.0")
    assert run.code == 0 and row["verdict"] == "skip" and "uninitialised" in row["why"]
    assert run.summary["skip"] == 1 and run.summary["compared"] == 2
    assert msprobe.compare(tmp_path / "ref", tmp_path / "target", "--no-ignore").code == 1


# ---- names of any kind (corpus D) ----

NAMES = ["back\\slash", "co:lon", "st*r", "qu?stion", 'quo"te', "less<than", "great>er", "pi|pe", "sp ace", "层.归一化", "emoji🙂",
         "=1+1", "-1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "..dots..", "UPPER", "upper", "'single'", "tab\there", "new\nline",
         "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "comma,semi;colon", "%41%00", "&amp;", "$HOME", "`id`",
         "a" * 245, "ünïcödé", "\u202eright-to-left", "\u2028separator", "bell\x07"]


@pytest.fixture(scope="module")
def named(tmp_path_factory, shared_msprobe):
    """The reports of tensors with every name, one of them bad."""
    folder = tmp_path_factory.mktemp("names")
    for side in ("ref", "target"):
        for name in NAMES:
            (folder / side).mkdir(exist_ok=True)
            values = VALUES * (2 if side == "target" and "script" in name else 1)
            with open(folder / side / (name.replace("/", "\u2215") + ".npy"), "wb") as file:
                numpy.save(file, values)
    outputs = [folder / f"report.{suffix}" for suffix in ("json", "csv", "html")]
    run = shared_msprobe("compare", "-r", folder / "ref", "-t", folder / "target", *[part for path in outputs for part in ("-o", path)])
    assert run.code == 1, run.err
    return run, folder


def test_corpus_d_names_are_whole_in_json(named):
    rows = json.loads((named[1] / "report.json").read_bytes())["rows"]
    assert sorted(row["name"] for row in rows) == sorted(name.replace("/", "\u2215") for name in NAMES)
    assert all(row["reference"] and row["target"] for row in rows)


def test_corpus_d_names_are_whole_in_csv_and_never_formulas(named):
    text = (named[1] / "report.csv").read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == len(NAMES)
    cells = [row["name"] for row in rows]
    assert not [cell for cell in cells if re.match(r"[\s\"]*[=+\-@\t\r]", cell)], "a spreadsheet would run it"
    unmarked = {cell[1:] if cell.startswith("'") and cell[1:2] in tuple("=+-@\t\r\n") else cell for cell in cells}
    assert {name.replace("/", "\u2215") for name in NAMES} - unmarked == set()


def test_corpus_d_names_never_break_the_page(named):
    page = (named[1] / "report.html").read_text()
    assert "<script>alert(1)" not in page and "<img src=x" not in page
    assert page.lower().count("</html>") == 1


def test_corpus_d_names_do_not_control_the_terminal(named):
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", named[0].out)


def test_names_longer_than_any_file_name_are_kept(msprobe, tmp_path):
    name = "Module." + ".".join(["block"] * 3000) + ".Linear.forward.0"
    for side in ("ref", "target"):
        Dump(tmp_path / side, task="statistics").call(name, [], [VALUES]).write()
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert run.code == 0 and run.only["call_name"] == name


def test_case_42_reports_of_equal_dumps_and_of_single_rows_are_written(msprobe, tmp_path):
    """A smallest error of 0 and a range of 0 broke plots elsewhere."""
    pair = folders(tmp_path, ["a/b", "c"], ["a/b", "c"])
    outputs = [tmp_path / f"r.{suffix}" for suffix in ("html", "csv", "json")]
    run = msprobe("compare", "-r", pair[0], "-t", pair[1], *[part for path in outputs for part in ("-o", path)])
    assert run.code == 0 and all(path.stat().st_size for path in outputs)
    assert not any(path.name.startswith("a") for path in tmp_path.iterdir()), "a slash in a name makes no folder"


def test_case_67_a_hierarchy_of_10000_modules_is_read(msprobe, tmp_path):
    for side in ("ref", "target"):
        dump = Dump(tmp_path / side, task="statistics")
        parent = None
        for depth in range(10000):
            name = f"Module.m{depth}.Block.forward.0"
            dump.construct[name] = parent
            parent = name
        dump.call("Functional.relu.0.forward", [], [VALUES], parent=parent)
        dump.write()
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target", timeout=30)
    assert run.code == 0 and run.only["module"] == "Module.m9999"


def test_case_41_and_trap_20_the_terminal_lists_layers_and_counts_by_default(msprobe, tmp_path):
    chain(tmp_path / "ref", {})
    chain(tmp_path / "target", {"layer_norm": 1.01})
    run = msprobe("compare", "-r", tmp_path / "ref", "-t", tmp_path / "target")
    assert run.code == 1 and run.err == ""
    for text in ("Functional.layer_norm", "Functional.linear", "net.py:11", "8"):
        assert text in run.out
    assert "\x1b[" not in run.out, "no colours in a pipe"
    full = msprobe("compare", "-r", tmp_path / "ref", "-t", tmp_path / "target", "--all")
    assert "Functional.matmul" in full.out
    every = msprobe("compare", "-r", tmp_path / "ref", "-t", tmp_path / "target", "-v", "3")
    assert "rel_l2" in every.out and "zero_ref_mismatch" in every.out


def test_case_70_counts_are_exact_for_many_tensors(msprobe, tmp_path):
    for side in ("ref", "target"):
        dump = Dump(tmp_path / side, task="statistics")
        for i in range(20000):
            dump.data[f"Functional.relu.{i}.forward"] = {"output": [{
                "type": "torch.Tensor", "dtype": "torch.float32", "shape": [4], "Max": 1.0, "Min": -1.0, "Mean": 0.5,
                "Norm": 2.0 if side == "ref" or i % 7 else 3.0}]}
        dump.write()
    bad = len(range(0, 20000, 7))
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target", "-o", tmp_path / "r.html")
    assert (run.summary["compared"], run.summary["fail"], run.summary["pass"]) == (20000, bad, 20000 - bad)
    terminal = msprobe("compare", "-r", tmp_path / "ref", "-t", tmp_path / "target")
    assert str(bad) in re.sub("[,  ]", "", terminal.out) and len(terminal.out.splitlines()) < 200
    shutil.rmtree(tmp_path / "ref")
