#!/usr/bin/env python3
"""Does veRL name the place of an injected fault? Prints a row per case and the totals.

    tests/bench/faults.py [--set tests/data/faults_A.tar.xz] [--program build/release/bin/msprobe]

The set: <set>/<case>/{reference or ref,target}/... and truth.json (docs/testing.md). A hit: the call of summary.first_bad is one
of truth's layer_accept; near: its enclosing module (layer_coarse). A false alarm: a benign pair with a failing row.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def judge(program, case):
    """One case as a dict: the truth, the verdict, and where the product points."""
    truth = json.loads((case / "truth.json").read_text())
    command = [program, "compare", "-r", case / "ref", "-t", case / "target", "-o", "-"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"{case.name}: exit {run.returncode}: {run.stderr}")
    report = json.loads(run.stdout)
    first = report["summary"]["first_bad"]
    row = report["rows"][first["index"]] if first else None
    call = row["call_name"] if row else None
    return {
        "case": case.name, "benign": truth["benign"], "failed": report["summary"]["fail"], "call": call, "row": row and row["name"],
        "origin": row and row["origin"], "error": row and row["error"],
        "hit": call in truth["layer_accept"], "near": call in truth["layer_accept"] + truth["layer_coarse"], "truth": truth["layer"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", type=pathlib.Path, default=ROOT / "tests/data/faults_A.tar.xz")
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/msprobe"))
    parser.add_argument("--need-hits", type=int, default=0, help="exit 1 below this number of hits")
    parser.add_argument("--most-alarms", type=int, default=10**9, help="exit 1 above this number of false alarms")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = args.set
        if root.is_file():
            with tarfile.open(root) as archive:
                archive.extractall(folder)
            root = pathlib.Path(folder)
        cases = [judge(args.program, path.parent) for path in sorted(root.rglob("truth.json"))]
    for case in cases:
        mark = ("alarm" if case["failed"] else "quiet") if case["benign"] else "hit" if case["hit"] else "near" if case["near"] else "miss"
        points = f"{case['row']} (error {case['error']}, origin {case['origin']})" if case["call"] else "nothing"
        wanted = "" if case["benign"] or case["hit"] else f"; wanted {case['truth']}"
        print(f"{mark:5} {case['case']:32} {points}{wanted}")
    faults = [case for case in cases if not case["benign"]]
    benign = [case for case in cases if case["benign"]]
    hits = sum(case["hit"] for case in faults)
    alarms = sum(case["failed"] > 0 for case in benign)
    print(f"hits {hits}/{len(faults)}, near {sum(case['near'] for case in faults)}/{len(faults)}, "
          f"silent {sum(not case['failed'] for case in faults)}, false alarms {alarms}/{len(benign)}")
    return 0 if hits >= args.need_hits and alarms <= args.most_alarms else 1


if __name__ == "__main__":
    sys.exit(main())
