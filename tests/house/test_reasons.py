"""What makes the tape run is listed in `docs/syncs.md`, by the reason that the report shows."""
import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASKING = {"flush", "value_of", "seen", "on_host", "host_copy", "numbers_of", "trace_boundary"}      # functions that take a reason


def reasons():
    """{reason: a file in which it is given as a text}."""
    found = {}
    for path in sorted((ROOT / "jtensor").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and (getattr(node.func, "id", None) or getattr(node.func, "attr", None)) in ASKING:
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                found.update((text.value, path.name) for text in given if isinstance(text, ast.Constant) and isinstance(text.value, str))
    return found


@pytest.mark.parametrize("reason", sorted(reasons()))
def test_a_reason_is_listed(reason):
    assert f"`{reason}`" in (ROOT / "docs" / "syncs.md").read_text(), reasons()[reason]


def test_reasons_are_found():
    assert {"item()", "print", "index bounds", "eager"} <= set(reasons())
