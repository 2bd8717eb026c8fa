#!/usr/bin/env python3
"""What a process of its own costs: many pairs of 16 elements through an analyzer in worker processes and in the program itself.

    tests/bench/isolation.py [--program build/release/bin/msprobe] [--count 100000] [--mode veRL] [--jobs 2] [--repeat 3] [--most 3]

Both times are the best of `repeat` alternating runs: `run` is the comparison alone, `wall` has the start, the catalogues and the
report too. Exit code 1 when the wall time of the isolated run is more than `most` times the other.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]


def make(folder, count):
    """Two folders of tensors; links to one file each, so that a hundred thousand are made in seconds."""
    values = numpy.random.default_rng(1).normal(size=16).astype("f4")
    for side, array in (("reference", values), ("target", values * numpy.float32(1 + 1e-6))):
        (folder / side).mkdir()
        for i in range(count):
            path = folder / side / f"layer{i:06}.npy"
            if i % 30000 == 0:  # file systems limit links to one file
                first = path
                numpy.save(path, array)
            else:
                os.link(first, path)


def measure(args, folder, isolate):
    report = folder / "report.json"
    command = [args.program, "compare", "-r", folder / "reference", "-t", folder / "target", "-m", args.mode, "-j", args.jobs, "--isolate", isolate,
               "-v", "0", "-o", report]
    begun = time.monotonic()
    subprocess.run(list(map(str, command)), check=False, stdout=subprocess.DEVNULL)
    wall = time.monotonic() - begun
    with open(report, encoding="utf-8") as file:
        content = json.load(file)
    assert content["summary"]["compared"] == args.count, content["summary"]
    return wall, content["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/bin/msprobe")
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--mode", default="veRL")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--most", type=float, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder, args.count)
        best = {}
        for _ in range(args.repeat):
            for isolate in ("never", "always"):
                seen = measure(args, folder, isolate)
                best[isolate] = tuple(map(min, best.get(isolate, seen), seen))
    for isolate, (wall, run) in best.items():
        print(f"{isolate:<7} run {run:6.2f} s  wall {wall:6.2f} s  {run / args.count * 1e6:6.1f} us per pair")
    ratios = [a / b for a, b in zip(best["always"], best["never"])]
    print(f"ratio   run {ratios[1]:6.2f}    wall {ratios[0]:6.2f}    ({args.count} pairs, {args.mode}, -j {args.jobs})")
    return ratios[0] > args.most


if __name__ == "__main__":
    sys.exit(main())
