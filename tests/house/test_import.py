"""What `import jtensor` costs and starts, looked at from a fresh process."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import jtensor
from jtensor.base.compat import inside

PROBE = """
import gc, json, sys, time
begin = time.process_time()
import jax
before, start = set(sys.modules), time.process_time()
import jtensor
cost = time.process_time() - start
from jax._src import xla_bridge
print(json.dumps({
    "cost": cost,
    "jax": start - begin,
    "backends": xla_bridge.backends_are_initialized(),
    "collects": gc.isenabled(),
    "x64": jax.config.jax_enable_x64,
    "modules": sorted(set(sys.modules) - before),
    "torch": [name for name in sys.modules if name.split(".")[0] == "torch"],
}))
"""
LIMIT = 0.15  # seconds of processor time beyond `import jax`, on a machine that imports jax in 0.4


def probe(folder):
    """One more process. Bytecode is kept between them, as it is for an installed package."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    found = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True,
                           env={**environment, "PYTHONPYCACHEPREFIX": str(folder)})
    return json.loads(found.stdout.splitlines()[-1])


def test_import_starts_nothing_and_is_quick(tmp_path):
    probe(tmp_path)  # compiles the sources
    found = probe(tmp_path)
    assert not found["backends"], "a JAX backend was started"
    assert not found["x64"], "JAX's configuration was changed"
    assert not found["torch"], "torch was imported"
    assert found["collects"], "the garbage collector was left switched off"
    assert not [name for name in found["modules"] if name.split(".")[0] in ("matplotlib", "chex", "hypothesis", "pytest")]
    assert not [name for name in found["modules"] if name.startswith("jtensor.alias")], "only `python -m jtensor` needs the alias"
    for _ in range(4):  # a slow machine imports jax as slowly; a busy one inflates the one or the other, by chance
        if found["cost"] < max(LIMIT, LIMIT / 0.4 * found["jax"]):
            break
        found = probe(tmp_path)
    else:
        pytest.fail(f"import jtensor takes {found['cost']:.3f} s of processor time over import jax, which takes {found['jax']:.3f}")


def test_a_later_jax_is_refused():
    """Up to the one that an installation asks for; the sentence says what to install."""
    major, minor = inside.ADMITTED
    later = f"import jax; jax.__version_info__ = ({major}, {minor + 1}, 0); import jtensor"
    found = subprocess.run([sys.executable, "-c", later], capture_output=True, text=True)
    said = found.stderr.splitlines()[-1]
    assert said.startswith(f"ImportError: jtensor runs on JAX up to {major}.{minor}, and this is ")
    assert said.endswith(f"pip install 'jax<{major}.{minor + 1}' 'jaxlib<{major}.{minor + 1}'")
    project = tomllib.loads((Path(jtensor.__file__).parents[1] / "pyproject.toml").read_text())["project"]
    wanted = [one for one in project["dependencies"] if one.startswith("jax")]
    assert len(wanted) == 2 and all(one.endswith(f",<{major}.{minor + 1}") for one in wanted)
