"""What is said of rooms is so: those that the pages and other rooms name are there."""
import pkgutil
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = sorted((ROOT / "jtensor").rglob("*.py"))
NAMED = {path.relative_to(ROOT / "jtensor").as_posix() for path in ROOMS}
LAYERS = "amp|autograd|base|nn|ops|optim|random|storage|tensor|trace|utils|views"


def missing(text):
    """The files of this package that a page names, as `tensor/core.py` or by the last name alone, and that are not there."""
    files = re.findall(r"`((?:[a-z_0-9]+/)*[a-z_0-9]+\.py)`", text)
    known = NAMED | {name.rpartition("/")[2] for name in NAMED} | {path.name for path in (ROOT / "tests").rglob("*.py")}
    return [name for name in files if name.removeprefix("jtensor/") not in known and not (ROOT / name).exists()]


def leads_somewhere(name):
    try:
        pkgutil.resolve_name("jtensor." + name)
    except (ImportError, AttributeError):
        return False
    return True


def unresolved(text):
    """The names such as `trace.tape` or `ops.build.plan_for` in a text that lead nowhere."""
    return [name for name in re.findall(rf"`((?:{LAYERS})(?:\.[A-Za-z_]\w*)+)`", text) if not leads_somewhere(name)]


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name)
def test_pages_name_rooms_that_exist(page):
    assert not missing(page.read_text())


def docstring(text):
    """That of a room: what stands first, in quotes of three."""
    found = re.match(r'"""(.*?)"""', text, re.DOTALL)
    return found.group(1) if found else ""


def test_rooms_name_rooms_that_exist():
    told = {path.relative_to(ROOT).as_posix(): docstring(path.read_text()) for path in ROOMS}
    assert not {name: wrong for name, text in told.items() if (wrong := unresolved(text))}


def test_a_wrong_name_is_seen():
    assert missing("`trace/tape.py`, `core.py`, `trace/nowhere.py`") == ["trace/nowhere.py"]
    assert unresolved("`trace.tape.LOCAL`, `views.nowhere`, `trace.tape.nowhere`") == ["views.nowhere", "trace.tape.nowhere"]


def test_nothing_lies_at_the_top_that_does_not_belong_there():
    """Nor is anything kept that is no text but for pictures and data: what was downloaded or built beside the project stays out of it."""
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout: nothing tells what is kept")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    top = {name.partition("/")[0] for name in listed}
    assert top == {".ci", ".gitignore", "LICENSE", "README.md", "docs", "examples", "jtensor", "pyproject.toml", "tests"}
    built = ".whl", ".gz", ".zip", ".so", ".pyc"
    assert not [name for name in listed if name.endswith(built) and not name.startswith(("examples/", "tests/"))]


def test_every_folder_of_rooms_is_a_package():
    """Else it is not installed, though it can be imported from here."""
    assert not {path.parent.relative_to(ROOT).as_posix() for path in ROOMS if not (path.parent / "__init__.py").exists()}
