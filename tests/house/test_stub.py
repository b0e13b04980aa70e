"""The typed surface that editors read is what the package has."""

import ast
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
STUB = HERE.parents[1] / "jtensor" / "__init__.pyi"


def test_the_stub_is_up_to_date():
    found = subprocess.run([sys.executable, str(HERE / "make_stub.py"), "--check"], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_the_stub_is_python_and_names_everything_once():
    tree = ast.parse(STUB.read_text())
    names = [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assert len(names) == len(set(names)) and {"tensor", "Tensor", "add", "matmul"} <= set(names)
    methods = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert {"add_", "view", "backward", "__matmul__"} <= methods
