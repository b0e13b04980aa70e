"""Calls with arguments whose classes answer for them (``__torch_function__``): who is asked, as what, and what the call comes to.

Each line runs in a scope of tensors, of subclasses and of other objects. Seen are the questions, in order, and what the last statement's
value or exception is. What PyTorch shows is stored in ``tests/goldens/overriding.json``.

    python tests/tensor/overriding_cases.py --store        asks live PyTorch again
"""
import copy
import importlib
import json
import pickle
import re
import sys
import warnings
from pathlib import Path

import numpy as np

CASES = Path(__file__).with_suffix(".txt")
GOLDENS = CASES.parents[1] / "goldens" / "overriding.json"
LATE = ("asarray", "conv1d", "dropout", "is_signed", "unravel_index")            # names of torch that dir() does not show


def cases():
    """The statements of the file, one on a line."""
    return CASES.read_text().splitlines()


class World:
    """One of the libraries, its functions by name, and classes that write down what they are asked."""

    def __init__(self, library):
        self.torch = torch = importlib.import_module(library)
        importlib.import_module(library + ".overrides")
        self.asked = asked = []
        self.names = {}
        for lead, space in (("Tensor", torch.Tensor), ("torch", torch), ("F", torch.nn.functional), ("linalg", torch.linalg),
                            ("fft", torch.fft), ("special", torch.special), ("init", torch.nn.init)):
            for name in sorted({*dir(space), *LATE}, key=lambda name: (name.startswith("_"), name)):
                self._named(f"{lead}.{name}", getattr(space, name, None), space is torch.Tensor)

        class L(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                asked.append(self.question(func, types, args, kwargs))
                return super().__torch_function__(func, types, args, kwargs)

        class Q(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return NotImplemented

        class G:
            def __torch_function__(given, func, types, args=(), kwargs=None):
                asked.append(self.question(func, types, args, kwargs))
                return "answered"

        class D:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return NotImplemented

        class M(torch.overrides.TorchFunctionMode):
            def __torch_function__(mode, func, types, args=(), kwargs=None):
                asked.append(self.question(func, types, args, kwargs))
                return func(*args, **(kwargs or {}))

        class R(torch.overrides.TorchFunctionMode):
            def __torch_function__(mode, func, types, args=(), kwargs=None):
                return NotImplemented

            def __repr__(mode):
                return "R()"
        self.classes = {"L": L, "Q": Q, "G": G, "D": D, "M": M, "R": R}
        for name, kind in self.classes.items():
            kind.__module__, kind.__qualname__ = __name__, name
        self.order = {}
        for name, parents in (("A", (torch.Tensor,)), ("B", "A"), ("C", (torch.Tensor,)), ("E", "B")):
            self.order[name] = self._declining(name, (self.order[parents],) if isinstance(parents, str) else parents)
        self.classes["S"] = type("S", (torch.Tensor,), {})
        self.classes["S2"] = type("S2", (torch.Tensor,), {})
        self.classes["S3"] = type("S3", (self.classes["S"],), {})

    def _named(self, name, member, of_tensor):
        parts = [(name, member)]
        if of_tensor and not callable(member):
            parts = [(f"{name}.{part}", getattr(member, part, None)) for part in ("__get__", "__set__", "__delete__")]
        for name, part in parts:
            if part is not None and getattr(part, "__hash__", None):
                self.names.setdefault(part, name)

    def _declining(self, name, bases):
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            self.asked.append([cls.__name__, [kind.__name__ for kind in types]])
            return NotImplemented
        return type(name, bases, {"__torch_function__": classmethod(__torch_function__), "__module__": __name__})

    def question(self, func, types, args, kwargs):
        """What a class was asked, as text and numbers."""
        return [self.names.get(func, "?"), [kind.__name__ for kind in types], len(args), None if kwargs is None else list(kwargs)]

    def scope(self):
        """What a statement finds."""
        torch, like = self.torch, self.classes
        ones = torch.ones(2, 2)
        globals()["L"] = like["L"]                                       # where a pickle looks for it
        found = {"torch": torch, "np": np, "F": torch.nn.functional, "nn": torch.nn, "copy": copy, "pickle": pickle, **like, "p": ones,
                 "y": torch.ones(2, 2).as_subclass(like["L"]), "i": torch.ones(2, 2, dtype=torch.int64).as_subclass(like["L"]),
                 "k": torch.tensor([0, 1]).as_subclass(like["L"]), "s": torch.tensor(1).as_subclass(like["L"]),
                 "w": torch.ones(2).as_subclass(like["L"]), "q": torch.ones(2).as_subclass(like["Q"]), "g": like["G"](), "d": like["D"](),
                 "x1": torch.ones(2).as_subclass(like["S"]), "x2": torch.ones(2).as_subclass(like["S2"]),
                 "x3": torch.ones(2).as_subclass(like["S3"])}
        found["w"].requires_grad_()
        found.update({name.lower() + "1": torch.ones(2).as_subclass(kind) for name, kind in self.order.items()})
        return found

    def text(self, value):
        """What is compared of a value."""
        torch = self.torch
        if isinstance(value, torch.Tensor):
            with torch._C.DisableTorchFunction():
                node = value.grad_fn.name() if value.grad_fn is not None else None
                numbers = np.round(value.detach().numpy(), 4).tolist()
                return f"{type(value).__name__} {numbers} {value.requires_grad} {node} {value._is_view()}"
        if isinstance(value, (tuple, list)):
            return f"{type(value).__name__}({', '.join([self.text(one) for one in value])})"
        return type(value).__name__ if "0x" in repr(value) else repr(value)

    def seen(self, case):
        """[what was asked, what it came to]."""
        scope = self.scope()
        self.asked.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = _run(case, scope)
                asked = list(self.asked)
                said = self.text(value)
            except Exception as error:
                asked = list(self.asked)
                said = f"{type(error).__name__}: {str(error)}"
        return [asked, re.sub("0x[0-9a-f]+", "0x", said).replace("jtensor.", "torch.").replace(__name__ + ".", "")]


WORLDS = {}


def world(library):
    """The world of a library, made once."""
    if library not in WORLDS:
        WORLDS[library] = World(library)
    return WORLDS[library]


def _run(case, scope):
    """The value of an expression, or of what a statement assigns to."""
    try:
        return eval(compile(case, "<case>", "eval"), scope)
    except SyntaxError:
        exec(compile(case, "<case>", "exec"), scope)
    return scope.get("r", scope["y"] if case.startswith("y") else scope["p"] if case.startswith("p") else None)


if __name__ == "__main__":
    sys.path.insert(0, str(CASES.parents[2]))
    if "--store" in sys.argv:
        GOLDENS.write_text(json.dumps({case: world("torch").seen(case) for case in cases()}, indent=0) + "\n")
    stored = json.loads(GOLDENS.read_text())
    wrong = 0
    for case in cases():
        if (ours := world("jtensor").seen(case)) != stored[case]:
            wrong += 1
            print(f"{case}\n    PyTorch {stored[case]}\n    jtensor {ours}")
    print(wrong, "of", len(cases()))
