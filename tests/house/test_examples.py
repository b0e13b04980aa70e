"""Examples are run: the `>>>` lines of every docstring of the package, and the Python blocks of `docs/` and the README."""

import ast
import doctest
import importlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(path):
    """The docstrings of a file that have examples: (line, text). Read from the source: an operator is no function when it runs."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ">>>" in (text := ast.get_docstring(node) or ""):
            yield node.body[0].lineno, text


# The alias changes what the process it is installed in shows, so its examples are run apart, below.
NEEDED = {"onnx/__init__.py": "onnx"}                       # packages that need not be installed
GIVEN = {"library/tags.py"}                                 # whose docstring is put there as the room is run
ROOMS = [path for path in sorted((ROOT / "jtensor").rglob("*.py")) if path.parent.name != "alias" and ">>>" in path.read_text()
         and path.relative_to(ROOT / "jtensor").as_posix() not in GIVEN]


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: path.relative_to(ROOT / "jtensor").as_posix())
def test_docstrings(path, monkeypatch):
    """Examples say `torch`, as the reader's code does, and numpy is `np`; what else they use they find in their module.

    PyTorch itself they do not find: it need not be installed.
    """
    needed = NEEDED.get(path.relative_to(ROOT / "jtensor").as_posix())
    if needed is not None:
        pytest.importorskip(needed)
    monkeypatch.setitem(sys.modules, "torch", None)
    import numpy as np

    import jtensor

    module = importlib.import_module(path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__"))
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    found = list(examples(path))
    assert found
    for line, text in found:
        space = {**vars(module), "torch": jtensor, "jtensor": jtensor, "np": np}
        jtensor.manual_seed(0)
        runner.run(doctest.DocTestParser().get_doctest(text, space, path.name, str(path), line), out=report.append)
    assert not runner.failures, "".join(report)


def test_docstrings_of_the_alias():
    code = """
import doctest, importlib, sys
names = "finder metadata missing naming children run".split()
results = [doctest.testmod(importlib.import_module(f"jtensor.alias.{name}"), optionflags=doctest.ELLIPSIS) for name in names]
sys.exit(0 if sum(r.attempted for r in results) >= 4 and not any(r.failed for r in results) else 1)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages(page, afresh):
    """The blocks of a page run one after the other in one namespace; blocks with `>>>` are compared with what they show."""
    import jtensor

    space = {"__name__": "__main__", "torch": jtensor, "jtensor": jtensor}
    jtensor.manual_seed(0)
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    text = page.read_text()
    for match in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        source, line = match.group(1), text[: match.start()].count("\n") + 1
        if ">>>" in source:
            test = doctest.DocTestParser().get_doctest(source, space, page.name, str(page), line)
            runner.run(test, out=report.append, clear_globs=False)
            space.update(test.globs)
        else:
            with warnings.catch_warnings():
                exec(compile("\n" * line + source, str(page), "exec"), space)
    assert not runner.failures, "".join(report)


def test_the_readme_and_ci_run_the_same_commands():
    readme, ci = (ROOT / "README.md").read_text(), (ROOT / ".ci" / "run").read_text()
    for command in ("python -m pytest -n 2 -q", "python -m jtensor examples/digits.py"):
        assert f"&& {command}\n" in readme and f"\n{command}\n" in ci
