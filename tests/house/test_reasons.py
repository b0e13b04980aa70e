"""What makes the tape run is listed in `docs/syncs.md`, by the reason that the report shows."""
import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASKING = {"flush", "value_of", "seen", "on_host", "host_copy", "numbers_of", "trace_boundary"}      # functions that take a reason


def reasons():
    """{reason: a file in which it is given as a text}."""
    found, asking = {}, re.compile(rf"\b({'|'.join(ASKING)})\(")
    for path in sorted((ROOT / "jtensor").rglob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if asking.search(text) else ():
            if isinstance(node, ast.Call) and (getattr(node.func, "id", None) or getattr(node.func, "attr", None)) in ASKING:
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                found.update((text.value, path.name) for text in given if isinstance(text, ast.Constant) and isinstance(text.value, str))
    return found


def test_reasons_are_listed():
    found, listed = reasons(), (ROOT / "docs" / "syncs.md").read_text()
    assert {"item()", "print", "index bounds", "eager"} <= set(found)
    assert {reason: file for reason, file in found.items() if f"`{reason}`" not in listed} == {}
