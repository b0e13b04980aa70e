"""A small package with a copy of the alias inside, so that these tests need no engine and take no time to import one.

`standin` is laid out like the library: rooms without a counterpart, a function called like a room, a lazily found module.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "jtensor"
FILES = {
    "__init__.py": """
        from . import base, nn, utils
        from .tensor.tensor import Tensor, tensor

        def __getattr__(name):
            if name == "lazy":
                import importlib
                return importlib.import_module("standin.lazy")
            raise AttributeError(name)
        """,
    "base/__init__.py": "",
    "tensor/__init__.py": "",
    "tensor/tensor.py": """
        class Tensor:
            def relu(self): return self

        def tensor(): return Tensor()
        """,
    "nn/__init__.py": """
        from . import functional
        from .modules.linear import Linear
        """,
    "nn/functional.py": "def relu(): pass\ndef relu6(): pass",
    "nn/modules/__init__.py": "",
    "nn/modules/linear.py": "class Linear: pass\nclass Failure(RuntimeError): pass",
    "utils/__init__.py": "from .norm import norm",
    "utils/norm.py": "class Norm: pass\ndef norm(): pass",
    "utils/data/__init__.py": "class DataLoader: pass",
    "utils/later.py": "from . import other\nclass Later: pass",
    "utils/other.py": "class Other: pass",
    "lazy.py": "found = 1",
}


def unindent(text):
    lines = text.strip("\n").split("\n")
    margin = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[margin:] for line in lines) + "\n"


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The folder in which the stand-in package lies."""
    top = tmp_path_factory.mktemp("library")
    for name, text in FILES.items():
        path = top / "standin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(unindent(text))
    shutil.copytree(LIBRARY / "alias", top / "standin" / "alias", ignore=shutil.ignore_patterns("__pycache__"))
    main = (LIBRARY / "__main__.py").read_text()
    (top / "standin" / "__main__.py").write_text(main.replace("jtensor", "standin"))
    return top


class Runs:
    """Runs things below a fresh folder, under the alias or by python alone."""

    def __init__(self, library, folder):
        self.library, self.folder = library, folder

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(unindent(text))
        return path

    def python(self, *args, cwd=None, stdin=None, **env):
        env = {**os.environ, "PYTHONPATH": str(self.library), "PYTHONDONTWRITEBYTECODE": "1", **env}
        args = [sys.executable, *map(str, args)]
        where = cwd or self.folder
        return subprocess.run(args, cwd=where, env=env, capture_output=True, text=True, input=stdin or "", timeout=300)

    def alias(self, *args, **options):
        return self.python("-m", "standin", *args, **options)

    def lines(self, text):
        """What a script prints under the alias; it may not fail."""
        self.write("script.py", text)
        found = self.alias("script.py")
        assert found.returncode == 0, found.stderr
        return found.stdout.splitlines()


@pytest.fixture
def runs(library, tmp_path):
    return Runs(library, tmp_path)
