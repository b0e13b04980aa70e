"""Memory shared with NumPy at the end of the process."""
import subprocess
import sys


def test_an_exported_array_that_lives_to_the_end_of_the_process_says_nothing():
    program = ("import jtensor as t; m = t.nn.Linear(3, 2); o = t.optim.Adam(m.parameters())\n"
               "for _ in range(3): o.zero_grad(); m(t.ones(4, 3)).sum().backward(); o.step()\nprint('end')")
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("end\n", "")


def test_an_exported_array_that_outlives_the_library_says_nothing():
    program = ("import jtensor; from jtensor.storage import host; a = jtensor.ones(3).numpy()\n"
               "vars(host).update(dict.fromkeys(list(vars(host))))                     # as the end of the process empties modules\n"
               "del a; print('end')")
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("end\n", "")
