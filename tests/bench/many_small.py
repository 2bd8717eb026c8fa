#!/usr/bin/env python3
"""Makes two dumps of N small tensors each, as one folder of .npy files and as an Ascend msprobe dump of .pt files.

    tests/bench/many_small.py FOLDER [--count 100000]
"""
import argparse
import io
import json
import pathlib
import pickle
import random
import struct
import zipfile


def npy(values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%df" % len(values), *values)


class Global:
    """A global of torch by name: pickled as a reference, never imported."""

    def __init__(self, name):
        self.name = name


class Pickler(pickle._Pickler):
    """Writes what torch.save writes for one f32 tensor (protocol 2)."""

    def save_global_name(self, module, name):
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())


def pt(values, stem):
    out = io.BytesIO()
    pickler = Pickler(out, 2)
    write = out.write
    write(pickle.PROTO + b"\x02")
    pickler.save_global_name("torch._utils", "_rebuild_tensor_v2")
    write(pickle.MARK + pickle.MARK)
    for text in ("storage",):
        write(pickle.BINUNICODE + struct.pack("<I", len(text)) + text.encode())
    pickler.save_global_name("torch", "FloatStorage")
    for text in ("0", "cpu"):
        write(pickle.BINUNICODE + struct.pack("<I", len(text)) + text.encode())
    write(pickle.BININT + struct.pack("<i", len(values)) + pickle.TUPLE + pickle.BINPERSID)
    write(pickle.BININT1 + b"\x00" + pickle.BININT + struct.pack("<i", len(values)) + pickle.TUPLE1 + pickle.BININT1 + b"\x01" + pickle.TUPLE1)
    write(pickle.NEWFALSE)
    pickler.save_global_name("collections", "OrderedDict")
    write(pickle.EMPTY_TUPLE + pickle.REDUCE + pickle.TUPLE + pickle.REDUCE + pickle.STOP)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as zipped:
        zipped.writestr(f"{stem}/data.pkl", out.getvalue())
        zipped.writestr(f"{stem}/data/0", struct.pack("<%df" % len(values), *values))
        zipped.writestr(f"{stem}/version", "3\n")
    return archive.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=100000)
    args = parser.parse_args()
    rng = random.Random(1)
    reference = [rng.gauss(0, 1) for _ in range(16)]
    sides = {"reference": reference, "target": [v * (1 + 1e-7) for v in reference]}
    for side, values in sides.items():
        folder = args.folder / "npy" / side
        folder.mkdir(parents=True, exist_ok=True)
        content = npy(values)
        for i in range(args.count):
            (folder / f"layer{i:06}.npy").write_bytes(content)
        folder = args.folder / "pt" / side / "step0" / "rank0"
        (folder / "dump_tensor_data").mkdir(parents=True, exist_ok=True)
        content, data = pt(values, "x"), {}
        for i in range(args.count):
            name = f"Functional.relu.{i}.forward"
            leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [16], "Max": 1.0, "Min": -1.0, "Mean": 0.0, "Norm": 1.0,
                    "requires_grad": False, "data_name": name + ".output.0.pt"}
            data[name] = {"input_args": [], "input_kwargs": {}, "output": [leaf]}
            (folder / "dump_tensor_data" / leaf["data_name"]).write_bytes(content)
        head = {"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": None}
        (folder / "dump.json").write_text(json.dumps({**head, "data": data}, indent=1))


if __name__ == "__main__":
    main()
