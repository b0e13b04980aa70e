"""A report of the environment: PyTorch's lines, with this library's name in the first."""
import subprocess
import sys

import pytest

import jtensor
from jtensor.utils import collect_env


def labels(text):
    """What stands before the colons, up to what the processor says of itself."""
    return [line.partition(":")[0] for line in text.partition("\nCPU:")[0].splitlines() if ":" in line]


def test_the_lines_are_pytorchs():
    theirs = pytest.importorskip("torch.utils.collect_env")
    assert collect_env.SystemEnv._fields == theirs.SystemEnv._fields
    info = collect_env.get_env_info()
    ours = collect_env.pretty_str(info)
    assert labels(ours) == labels(theirs.pretty_str(theirs.SystemEnv(*info)))
    for name in ("python_platform", "python_version", "libc_version", "gcc_version", "cmake_version", "os", "cuda_runtime_version"):
        assert getattr(info, name) == getattr(theirs.get_env_info(), name), name


def test_it_says_what_it_is():
    text = collect_env.get_pretty_env_info()
    assert text.startswith(f"PyTorch version: {jtensor.__version__} (jtensor: PyTorch's interface on jax ")
    assert "CUDA used to build PyTorch: Could not collect" in text and "[pip3] jaxlib==" in text


def test_it_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "jtensor", "-m", "torch.utils.collect_env"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Collecting environment information...\nPyTorch version: 2.13.0+jtensor")
