"""Dump trees as Ascend msprobe writes them: dump.json, stack.json, construct.json and dump_tensor_data/*.pt."""
import json

import numpy

from tensor_files import write_npy, write_pt

TORCH = {"float32": "torch.float32", "float64": "torch.float64", "float16": "torch.float16", "int64": "torch.int64",
         "int32": "torch.int32", "bool": "torch.bool", "uint8": "torch.uint8"}


def scalar(value, kind=None):
    return {"type": kind or type(value).__name__, "value": value}


class Dump:
    """One rank folder. call(...) adds calls in order; write() writes the files."""

    def __init__(self, folder, task="tensor", level="mix", suffix=".pt"):
        self.folder, self.task, self.level, self.suffix = folder, task, level, suffix
        self.data, self.stack, self.construct, self.files = {}, {}, {}, {}

    def tensor(self, array, name=None, **extra):
        """The entry of a tensor; with a name its data are saved too."""
        array = numpy.asarray(array)
        number = array.dtype.kind == "f"
        entry = {"type": "torch.Tensor", "dtype": TORCH[str(array.dtype)], "shape": list(array.shape), "requires_grad": False}
        if array.size:
            wide = array.astype(float)
            entry.update(Max=float(wide.max()), Min=float(wide.min()), Mean=float(wide.mean()) if number else None,
                         Norm=float(numpy.linalg.norm(wide)) if number else None)
        if name is not None and self.task == "tensor":
            entry["data_name"] = name + self.suffix
            self.files[name + self.suffix] = array
        entry.update(extra)
        return entry

    def call(self, name, inputs=(), outputs=(), kwargs=None, parameters=None, source=None, parent=None):
        """Arrays and scalar() entries; names of files follow the peer's."""
        leaf = lambda value, where: value if value is None or isinstance(value, (dict, list)) else self.tensor(value, f"{name}.{where}")
        backward = ".backward" in name
        entry = {"input" if backward else "input_args": [leaf(value, f"input.{i}") for i, value in enumerate(inputs)]}
        if not backward:
            entry["input_kwargs"] = {key: leaf(value, f"input.{key}") for key, value in (kwargs or {}).items()}
        if parameters is not None:
            entry["parameters"] = {key: leaf(value, f"parameters.{key}") for key, value in parameters.items()}
        entry["output"] = [leaf(value, f"output.{i}") for i, value in enumerate(outputs)]
        self.data[name] = entry
        if source:
            file, line, function = source
            self.stack[str(len(self.stack))] = [[name], [f"File {file}, line {line}, in {function}, \n x = f(x)"]]
        self.construct[name] = parent
        return self

    def document(self):
        return {"task": self.task, "level": self.level, "framework": "pytorch", "dump_data_dir": None, "data": self.data}

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, content in (("dump", self.document()), ("stack", self.stack), ("construct", self.construct)):
            (self.folder / f"{name}.json").write_text(json.dumps(content, indent=1))
        for name, array in self.files.items():
            (write_pt if self.suffix == ".pt" else write_npy)(self.folder / "dump_tensor_data" / name, array)
        return self.folder
