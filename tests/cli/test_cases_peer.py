"""What a user of Ascend msprobe trips over (cases.md, traps 1 to 28): the right thing in each of these situations.

Traps 3 (broken files pass), 10, 11 (numbers) and 21 to 23, 26, 27 (other commands) are in test_bad_input, test_cases_numerics and in
later issues.
"""
import json
import os
import shutil
import subprocess

import numpy
import pytest

from conftest import Run
from dump_tree import Dump, scalar

VALUES = numpy.random.default_rng(4).normal(size=(4, 16)).astype("f4")
WEIGHT = numpy.random.default_rng(5).normal(size=(16, 16)).astype("f4")


def network(folder, weight=WEIGHT, eps=1e-5, task="tensor", level="mix"):
    """linear -> layer_norm -> linear, with its modules; the arithmetic is real."""
    dump, source = Dump(folder, task=task, level=level), ("/home/user/models.py", 30, "forward")
    hidden = VALUES @ weight.T
    module = "Module.net.fc1.Linear.forward.0"
    dump.call("Functional.linear.0.forward", [VALUES, weight], [hidden], source=source, parent=module)
    dump.call(module, [VALUES], [hidden], parameters={"weight": weight}, source=source)
    mean, variance = hidden.mean(1, keepdims=True), hidden.var(1, keepdims=True)
    normal = ((hidden - mean) / numpy.sqrt(variance + eps)).astype("f4")
    dump.call("Functional.layer_norm.0.forward", [hidden, [scalar(16)], scalar(eps)], [normal], source=source, parent="Module.net.ln.LayerNorm.forward.0")
    dump.call("Module.net.ln.LayerNorm.forward.0", [hidden], [normal], source=source)
    dump.call("Functional.linear.1.forward", [normal, WEIGHT], [normal @ WEIGHT.T], source=source)
    return dump.write()


@pytest.fixture
def pair(tmp_path):
    return lambda **changes: (network(tmp_path / "ref/step0/proc1"), network(tmp_path / "target/step0/proc2", **changes))


NOISY = WEIGHT * (1 + 0.01 * numpy.random.default_rng(6).normal(size=WEIGHT.shape)).astype("f4")


@pytest.mark.parametrize("task", ["tensor", "statistics"])
def test_trap_1_a_wrong_weight_fails_itself_and_is_told_first(msprobe, tmp_path, task):
    run = msprobe.compare(network(tmp_path / "ref", task=task), network(tmp_path / "target", NOISY, task=task))
    assert run.code == 1
    first = run.rows[run.summary["first_bad"]["index"]]
    assert first["name"] == "Functional.linear.0.forward.input.1" and first["module"] == "Module.net.fc1" and first["origin"] is True
    weight = run.row("Module.net.fc1.Linear.forward.0.parameters.weight")
    assert weight["verdict"] == "fail" and weight["origin"] is True
    assert run.report["findings"][0]["code"].startswith("precondition")
    assert any(finding["code"] == "precondition.weights" for finding in run.report["findings"])


def test_trap_2_the_message_tells_the_threshold_that_was_used(msprobe, pair):
    for options, threshold in (([], 1e-5), (["--error-threshold", "0.001"], 0.001)):
        run = msprobe.compare(*pair(weight=NOISY), *options)
        failed = [row for row in run.rows if row["verdict"] == "fail" and row["kind"] == "tensor"]
        assert failed
        for row in failed:
            assert row["threshold"] == threshold and row["threshold_from"]
            assert f"> {threshold:.3g}" in row["why"] and row["error"] > threshold


def test_trap_4_an_operator_that_the_target_lacks_is_a_row_in_both_directions(msprobe, tmp_path):
    full, less = network(tmp_path / "full"), network(tmp_path / "less")
    document = json.loads((less / "dump.json").read_text())
    del document["data"]["Functional.layer_norm.0.forward"]
    (less / "dump.json").write_text(json.dumps(document))
    for paths, side in (((full, less), "target"), ((less, full), "reference")):
        run = msprobe.compare(*paths)
        rows = [row for row in run.rows if row["call_name"] == "Functional.layer_norm.0.forward"]
        assert run.code == 3 and len(rows) == 4 and all(row[side] is None and row["verdict"] == "skip" for row in rows)


def test_trap_4_a_dump_of_modules_against_one_of_operators_is_not_success(msprobe, tmp_path):
    modules = Dump(tmp_path / "L0", level="L0").call("Module.net.fc1.Linear.forward.0", [VALUES], [VALUES]).write()
    operators = Dump(tmp_path / "L1", level="L1").call("Functional.linear.0.forward", [VALUES], [VALUES]).write()
    run = msprobe.compare(modules, operators)
    assert run.code == 3 and run.summary["compared"] == 0 and run.summary["passed"] is False
    assert run.report["findings"][0]["code"] == "precondition.network"


def test_trap_5_another_dtype_is_judged_not_refused(msprobe, tmp_path):
    half = Dump(tmp_path / "half").call("Functional.relu.0.forward", [VALUES.astype("f2")], [VALUES.astype("f2")]).write()
    full = Dump(tmp_path / "full").call("Functional.relu.0.forward", [VALUES], [VALUES]).write()
    run = msprobe.compare(full, half)
    assert run.code == 0 and {row["verdict"] for row in run.rows} == {"pass"}
    assert run.report["findings"][0]["code"] == "precondition.dtypes"


@pytest.mark.parametrize("level", ["rank folder", "dump.json", "step", "root"])
def test_traps_6_and_7_the_first_difference_is_named_however_the_dump_is_named(msprobe, pair, tmp_path, level):
    paths = pair(eps=0.1)
    paths = {"rank folder": paths, "dump.json": [path / "dump.json" for path in paths], "step": [path.parent for path in paths],
             "root": [path.parents[1] for path in paths]}[level]
    run = msprobe.compare(*paths)
    assert run.code == 1 and run.summary["first_bad"]["name"] == "Functional.layer_norm.0.forward.input.2"


@pytest.mark.parametrize("task", ["tensor", "statistics"])
def test_traps_8_and_9_the_faulty_norm_is_named_not_the_layer_behind_it(msprobe, tmp_path, task):
    run = msprobe.compare(network(tmp_path / "ref", task=task), network(tmp_path / "target", eps=0.5, task=task))
    assert run.summary["first_bad"]["name"] == "Functional.layer_norm.0.forward.input.2"
    origins = [row["call_name"] for row in run.rows if row["origin"] is True and row["direction"] == "output"]
    assert origins == ["Module.net.ln.LayerNorm.forward.0"]  # the module around it; the operator's own eps explains its output
    assert run.row("Functional.linear.0.forward.output.0")["verdict"] == "pass"


def test_trap_8_nan_is_found_in_statistics_and_both_values_are_shown(msprobe, tmp_path):
    paths = []
    for side in ("ref", "target"):
        dump = Dump(tmp_path / side, task="statistics")
        dump.call("Functional.a.0.forward", [VALUES], [VALUES])
        dump.call("Functional.b.0.forward", [VALUES], [VALUES])
        if side == "target":
            dump.data["Functional.b.0.forward"]["output"][0].update(Max=float("nan"), Norm=float("nan"))
        paths.append(dump.write())
    run = msprobe.compare(*paths)
    row = run.row("Functional.b.0.forward.output.0")
    assert run.summary["first_bad"]["name"] == row["name"] and row["error"] == "Infinity"
    assert row["reference"]["statistics"]["max"] == pytest.approx(VALUES.max()) and row["target"]["statistics"]["max"] == "NaN"


def test_trap_9_tiny_means_of_rounding_noise_are_no_alarm(msprobe, tmp_path):
    """The mean of a normalised tensor is 1e-9 on one side and -3e-9 on the other: 400 % there, nothing here."""
    paths = []
    for side, mean in (("ref", 1e-9), ("target", -3e-9)):
        dump = Dump(tmp_path / side, task="statistics").call("Functional.layer_norm.0.forward", [VALUES], [VALUES])
        dump.data["Functional.layer_norm.0.forward"]["output"][0]["Mean"] = mean
        paths.append(dump.write())
    run = msprobe.compare(*paths)
    assert run.code == 0 and run.row("Functional.layer_norm.0.forward.output.0")["metrics"]["mean_rel_diff"] == pytest.approx(4)


def test_trap_12_nan_in_a_scalar_tensor_fails_and_is_said_once(msprobe, tmp_path):
    paths = [Dump(tmp_path / side).call("Functional.loss.0.forward", [], [numpy.array(value, "f4")]).write()
             for side, value in (("ref", 1.0), ("target", numpy.nan))]
    row = msprobe.compare(*paths).only
    assert row["verdict"] == "fail" and row["error"] == "Infinity" and row["why"].count("NaN or infinity") == 1


def test_trap_13_a_racy_checksum_alone_fails_nothing(msprobe, tmp_path):
    paths = []
    for side, checksum in (("ref", "0a1b2c3d"), ("target", "ffffffff")):
        dump = Dump(tmp_path / side, task="statistics").call("Functional.relu.0.forward", [], [VALUES])
        dump.data["Functional.relu.0.forward"]["output"][0]["md5"] = checksum
        paths.append(dump.write())
    for options in ([], ["--exact"]):
        run = msprobe.compare(*paths, *options)
        assert run.code == 0 and run.only["verdict"] == "warn" and "checksum_only" in run.only["why"]


def test_checksums_without_statistics_decide(msprobe, tmp_path):
    def dump(name, checksum):
        made = Dump(tmp_path / name, task="statistics").call("Functional.relu.0.forward", [], [VALUES])
        entry = made.data["Functional.relu.0.forward"]["output"][0]
        for key in ("Max", "Min", "Mean", "Norm"):
            entry[key] = None
        entry["md5"] = checksum
        return made.write()
    a, b, other = dump("a", "0a1b2c3d"), dump("b", "ffffffff"), dump("c", "0x123456789abcdef0")
    assert msprobe.compare(a, dump("again", "0a1b2c3d")).only["verdict"] == "pass"
    row = msprobe.compare(a, b).only
    assert row["kind"] == "checksum" and row["verdict"] == "fail" and row["error"] == "Infinity"
    row = msprobe.compare(a, other).only
    assert row["verdict"] == "skip" and "not comparable" in row["why"]


def test_trap_14_two_networks_are_called_that(msprobe, tmp_path):
    other = Dump(tmp_path / "other")
    for i in range(9):
        other.call(f"Functional.conv2d.{i}.forward", [VALUES], [VALUES])
    run = msprobe.compare(network(tmp_path / "ref"), other.write())
    assert run.code == 3 and run.report["findings"][0]["code"] == "precondition.network"


def test_trap_16_one_processor_is_enough(msprobe, pair):
    command = [msprobe.path, "compare", *map(str, ("-r", pair()[0], "-t", pair()[1])), "-o", "-"]
    done = subprocess.run(command, capture_output=True, env=msprobe.env, preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    assert Run(done.returncode, done.stdout.decode(), done.stderr.decode()).summary["passed"] is True


def test_trap_17_nothing_is_said_about_what_nobody_needs(msprobe, pair):
    run = msprobe("compare", "-r", pair()[0], "-t", pair()[1])
    assert run.code == 0 and run.err == ""
    for word in ("CANN", "ERROR", "INFO", "****"):
        assert word not in run.out


def test_trap_18_long_options_take_either_form(msprobe, pair):
    reference, target = pair()
    for arguments in ((f"--reference={reference}", f"--target={target}"), ("--reference", reference, "--target", target),
                      (f"-r{reference}", f"-t{target}")):
        assert msprobe("compare", *arguments, "-o", "-").code == 0


def test_trap_20_exit_codes_and_a_summary_line(msprobe, pair):
    reference, target = pair()
    run = msprobe("compare", "-r", reference, "-t", target, "-v", "0")
    assert run.code == 0 and len(run.out.splitlines()) == 1 and "PASS" in run.out and "equal" in run.out
    run = msprobe("compare", "-r", reference, "-t", pair(eps=0.1)[1], "-v", "0")
    assert run.code == 1 and len(run.out.splitlines()) == 1 and "Functional.layer_norm" in run.out


def test_trap_25_thresholds_are_given_by_layer_and_metric(msprobe, pair, tmp_path):
    rules = [{"layer": "*linear*", "metric": "error", "limit": 10}, {"layer": "*", "metric": "error", "limit": 1e-9}]
    (tmp_path / "limits.json").write_text(json.dumps(rules))
    run = msprobe.compare(*pair(weight=NOISY), "--thresholds", tmp_path / "limits.json")
    for row in run.rows:
        if row["kind"] == "tensor":
            assert row["threshold"] == (10 if "linear" in row["layer"] else 1e-9), row["layer"]
            assert "limits.json" in row["threshold_from"]
    assert run.row("Functional.linear.0.forward.output.0")["verdict"] == "warn"  # outliers are not a matter of the limit
    assert run.row("Functional.layer_norm.0.forward.output.0")["verdict"] == "fail"
    (tmp_path / "limits.json").write_text(json.dumps([{"layer": "*", "metric": "cosine_distance", "limit": 1e-12}]))
    run = msprobe.compare(*pair(weight=NOISY), "--error-threshold", "100", "--thresholds", tmp_path / "limits.json")
    assert run.code == 1 and "cosine_distance" in run.row("Functional.linear.0.forward.output.0")["why"]


def test_trap_25_every_row_knows_its_source_line(msprobe, pair):
    assert {row["source"] for row in msprobe.compare(*pair()).rows} == {"models.py:30 in forward"}


def test_trap_26_all_steps_are_compared_in_one_call(msprobe, tmp_path):
    for step in range(3):
        network(tmp_path / f"ref/step{step}/proc1")
        network(tmp_path / f"target/step{step}/proc9", NOISY if step == 2 else WEIGHT)
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert {row["step"] for row in run.rows} == {0, 1, 2} and run.summary["first_bad"]["step"] == 2


def test_trap_28_a_dump_that_was_moved_compares_fine(msprobe, pair, tmp_path):
    reference, target = pair()
    document = json.loads((target / "dump.json").read_text())
    document["dump_data_dir"] = str(tmp_path / "gone")
    (target / "dump.json").write_text(json.dumps(document))
    shutil.move(str(target), tmp_path / "elsewhere")
    assert msprobe.compare(reference, tmp_path / "elsewhere").code == 0


def test_scalars_of_devices_and_paths_do_not_differ(msprobe, tmp_path):
    def dump(side, device, path, alpha):
        made = Dump(tmp_path / side)
        made.call("Tensor.to.0.forward", [VALUES, scalar(device), scalar(path)], [VALUES], kwargs={"alpha": scalar(alpha)})
        return made.write()
    reference = dump("ref", "cuda:0", "/data/a", 1.0)
    assert msprobe.compare(reference, dump("target", "npu:3", "/home/b", 1.0)).code == 0
    run = msprobe.compare(reference, dump("other", "npu:3", "/home/b", 2.0))
    assert run.code == 1 and [row["slot"] for row in run.rows if row["verdict"] == "fail"] == ["alpha"]
