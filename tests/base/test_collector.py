"""The collector is spared the import's objects, and nothing else."""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import gc, weakref
import jtensor
class Knot: pass
knot = Knot(); knot.self = knot
gone = weakref.ref(knot); del knot
gc.collect()
said = [line for line in str(jtensor.report()).splitlines() if "garbage" in line]
print(gc.isenabled(), gone() is None, gc.get_freeze_count() > 10_000, *said)
"""


@pytest.mark.parametrize("given, frozen, said", [({}, "True", "objects of the import are not walked"),
                                                 ({"JTENSOR_GC": "0"}, "False", "left alone")])
def test_import_is_frozen_and_later_cycles_are_collected(given, frozen, said):
    environ = {name: value for name, value in os.environ.items() if name != "JTENSOR_GC"} | given
    answer = subprocess.run([sys.executable, "-c", PROGRAM], env=environ, capture_output=True, text=True, check=True).stdout
    assert answer.startswith(f"True True {frozen} garbage collector: ") and said in answer
