"""Real dump pairs with known faults: where the report points, and what it says first."""
import pytest

# pair -> (names of the rows that may be first_bad, its module, its source line)
FAULTS = {
    "mlp_perturb_tensor_L1": ("Functional.linear.2.forward.input.1", None, "models.py:13 in forward"),
    "enc_eps_tensor_mix": ("Functional.layer_norm.1.forward.input.4", "Module.blocks.0.ln2", "models.py:37 in forward"),
    "cnn_nan_tensor_L0": ("Module.layer2.down.1.BatchNorm2d.forward.0.parameters.weight", "Module.layer2.down.1", "models.py:58 in forward"),
    "enc_perturb_statistics-md5_mix": ("Functional.linear.2.forward.input.1", "Module.blocks.0.fc1", "models.py:37 in forward"),
}
BENIGN = ("cnn_bf16_tensor_L0", "enc_bf16_statistics_mix")


@pytest.fixture(scope="module")
def runs(samples, shared_msprobe):
    pairs = [path for path in (samples / "samples").iterdir() if path.is_dir()]
    assert len(pairs) == 7
    return {path.name: shared_msprobe.compare(path / "ref", path / "target") for path in pairs}


@pytest.mark.parametrize("pair", FAULTS)
def test_first_bad_is_the_operator_with_the_fault_and_says_module_and_line(runs, pair):
    name, module, source = FAULTS[pair]
    first = runs[pair].summary["first_bad"]
    row = runs[pair].rows[first["index"]]
    assert (first["name"], row["module"], first["source"]) == (name, module, source)
    assert first["step"] == 0 and first["origin"] is True and row["verdict"] == "fail"
    assert runs[pair].code == 1


@pytest.mark.parametrize("pair", FAULTS)
def test_nothing_before_the_fault_fails(runs, pair):
    first = runs[pair].summary["first_bad"]["index"]
    assert {row["verdict"] for row in runs[pair].rows[:first]} <= {"pass", "warn"}


@pytest.mark.parametrize("pair", FAULTS)
def test_the_output_of_the_faulty_call_fails_too(runs, pair):
    rows = runs[pair].rows
    call = rows[runs[pair].summary["first_bad"]["index"]]["call_name"]
    outputs = [row for row in rows if row["step"] == 0 and row["call_name"] == call and row["direction"] == "output"]
    assert outputs and all(row["verdict"] == "fail" for row in outputs)


@pytest.mark.parametrize("pair", FAULTS)
def test_findings_tell_preconditions_then_origins_then_the_rest(runs, pair):
    codes = [finding["code"] for finding in runs[pair].report["findings"]]
    place = [0 if code.startswith("precondition") else 1 if code == "origin" else 2 for code in codes]
    assert place == sorted(place) and place[0] == 0, codes
    first = runs[pair].report["findings"][0]
    assert runs[pair].summary["first_bad"]["index"] in first["rows"]
    assert "not comparable" in first["text"].lower() or "set them equal first" in first["text"]


def test_findings_are_told_in_chinese_too(runs):
    for run in runs.values():
        for finding in run.report["findings"]:
            assert any("\u4e00" <= letter <= "\u9fff" for letter in finding["text_zh"])


def test_equal_dumps_pass_with_error_0_and_exit_0(runs):
    run = runs["enc_same_tensor_L0"]
    assert run.code == 0
    assert run.summary["passed"] is True and run.summary["max_error"] == 0 and run.summary["first_bad"] is None
    assert run.summary["compared"] == run.summary["pass"] == len(run.rows) == 120
    assert run.report["findings"] == []


@pytest.mark.parametrize("pair", BENIGN)
def test_bf16_noise_fails_no_forward_tensor_of_step_0(runs, pair):
    rows = [row for row in runs[pair].rows if row["step"] == 0 and row["phase"] == "forward"]
    assert len(rows) > 60
    assert [row["name"] for row in rows if row["verdict"] not in ("pass", "warn")] == []
    # and not because nothing was judged: thresholds widen behind the first bf16 tensor
    behind = [row for row in rows if row["kind"] != "scalar" and row["threshold"] == 4 * 2**-8]
    assert len(behind) > 40


def test_bf16_noise_stays_small_in_gradients_of_step_0(runs):
    """A few pass the threshold of one rounding: the business of a later noise floor."""
    failed = [row for row in runs["cnn_bf16_tensor_L0"].rows if row["step"] == 0 and row["verdict"] == "fail"]
    assert {row["direction"] for row in failed} == {"gradient"} and len(failed) <= 7
    assert max(row["error"] for row in failed) < 0.043


@pytest.mark.parametrize("pair", BENIGN)
def test_other_dtypes_are_named_before_anything_else(runs, pair):
    finding = runs[pair].report["findings"][0]
    assert finding["code"] == "precondition.dtypes" and "bf16" in finding["text"] and finding["level"] == "warn"


def test_a_changed_eps_is_named_with_both_values(runs):
    row = runs["enc_eps_tensor_mix"].row_of_step("Functional.layer_norm.1.forward.input.4", 0)
    assert row["kind"] == "scalar" and row["verdict"] == "fail"
    assert "1e-05" in row["why"] and "0.1" in row["why"]
    text = runs["enc_eps_tensor_mix"].report["findings"][0]["text"]
    assert "1e-05" in text and "0.1" in text and "models.py:37" in text


def test_a_changed_weight_fails_as_a_parameter(runs):
    row = runs["enc_perturb_statistics-md5_mix"].row_of_step("Module.blocks.0.fc1.Linear.forward.0.parameters.weight", 0)
    assert row["verdict"] == "fail" and row["direction"] == "parameter" and 0.001 < row["error"] < 0.1
    row = runs["mlp_perturb_tensor_L1"].row_of_step("Functional.linear.2.forward.input.1", 0)
    assert row["verdict"] == "fail" and 0.001 < row["error"] < 0.1


def test_nan_is_found_where_it_is_born_not_where_it_ends(runs):
    run = runs["cnn_nan_tensor_L0"]
    assert run.summary["max_error"] == "Infinity"
    first = run.rows[run.summary["first_bad"]["index"]]
    assert "inf" in first["why"] and "target" in first["why"]
    assert sum(row["verdict"] == "fail" for row in run.rows) > 100


def test_statistics_are_marked_so_that_nobody_takes_them_for_data(runs):
    for pair in ("enc_bf16_statistics_mix", "enc_perturb_statistics-md5_mix"):
        assert {row["kind"] for row in runs[pair].rows} == {"statistics", "scalar"}
        assert all("statistics" in row["why"] for row in runs[pair].rows if row["verdict"] == "fail" and row["kind"] == "statistics")


def test_each_part_of_a_dump_can_be_named(samples, msprobe):
    """A root, a step, a rank and a dump.json lead to the same rows."""
    pair = samples / "samples" / "mlp_perturb_tensor_L1"
    rank = {side: next((pair / side / "step0").glob("proc*")) for side in ("ref", "target")}
    whole = [row for row in msprobe.compare(pair / "ref", pair / "target").rows if row["step"] == 0]
    for forms in ([side.parent for side in rank.values()], list(rank.values()), [side / "dump.json" for side in rank.values()]):
        run = msprobe.compare(*forms)
        assert [(row["name"], row["error"]) for row in run.rows] == [(row["name"], row["error"]) for row in whole]
        assert run.summary["first_bad"]["step"] == 0


def test_a_single_step_can_be_compared_with_another(samples, msprobe):
    pair = samples / "samples" / "enc_same_tensor_L0"
    run = msprobe.compare(pair / "ref" / "step0", pair / "target" / "step1")
    assert run.code == 1 and any("step 0" in finding["text"] and "step 1" in finding["text"] for finding in run.report["findings"])


def test_two_different_networks_are_told_first(samples, msprobe):
    run = msprobe.compare(samples / "samples/mlp_perturb_tensor_L1/ref/step0", samples / "samples/enc_eps_tensor_mix/ref/step0")
    assert run.code in (1, 3)
    assert run.report["findings"][0]["code"] == "precondition.network"
    assert run.summary["unmatched_target"] > 100
