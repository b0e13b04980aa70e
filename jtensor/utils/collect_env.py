"""`torch.utils.collect_env`: what to write into a report of a bug, ``python -m jtensor -m torch.utils.collect_env``.

Owns: what is asked of the system, and PyTorch's form of the text. What PyTorch asks of its own build (CUDA, cuDNN, XNNPACK, ROCm,
its allocator) is not there, and is said to be so; the versions of JAX, which computes here, stand with the first line.
"""
import importlib.metadata
import locale
import os
import platform
import re
import subprocess
import sys
from collections import namedtuple

import jtensor

SystemEnv = namedtuple("SystemEnv", [
    "torch_version", "is_debug_build", "cuda_compiled_version", "gcc_version", "clang_version", "cmake_version", "os", "libc_version",
    "python_version", "python_platform", "is_cuda_available", "cuda_runtime_version", "cuda_module_loading", "nvidia_driver_version",
    "nvidia_gpu_models", "cudnn_version", "is_xpu_available", "pip_version", "pip_packages", "conda_packages", "hip_compiled_version",
    "hip_runtime_version", "miopen_runtime_version", "caching_allocator_config", "is_xnnpack_available", "cpu_info"])

COMMON_PATTERNS = ["torch", "numpy", "triton", "optree", "jax", "jtensor"]
PIP_PATTERNS = ["mypy", "flake8", "onnx"]

_TEXT = """
PyTorch version: {torch_version}
Is debug build: {is_debug_build}
CUDA used to build PyTorch: {cuda_compiled_version}
ROCM used to build PyTorch: {hip_compiled_version}

OS: {os}
GCC version: {gcc_version}
Clang version: {clang_version}
CMake version: {cmake_version}
Libc version: {libc_version}

Python version: {python_version}
Python platform: {python_platform}
Is CUDA available: {is_cuda_available}
CUDA runtime version: {cuda_runtime_version}
CUDA_MODULE_LOADING set to: {cuda_module_loading}
GPU models and configuration: {nvidia_gpu_models}
Nvidia driver version: {nvidia_driver_version}
cuDNN version: {cudnn_version}
Is XPU available: {is_xpu_available}
HIP runtime version: {hip_runtime_version}
MIOpen runtime version: {miopen_runtime_version}
Is XNNPACK available: {is_xnnpack_available}
Caching allocator config: {caching_allocator_config}

CPU:
{cpu_info}

Versions of relevant libraries:
{pip_packages}
{conda_packages}
""".strip()


def run(command):
    """(exit status, output, errors) of a command: a line for the shell, or a list.

    >>> from jtensor.utils.collect_env import run
    >>> run("echo found")
    (0, 'found', '')
    """
    try:
        done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, "", str(error)
    code = locale.getpreferredencoding()
    return done.returncode, done.stdout.decode(code, "replace").strip(), done.stderr.decode(code, "replace").strip()


def run_and_read_all(run_lambda, command):
    """What a command says; None if it fails."""
    status, out, _ = run_lambda(command)
    return None if status else out


def run_and_parse_first_match(run_lambda, command, regex):
    """The first group of a pattern in what a command says; None if it fails or there is none."""
    status, out, _ = run_lambda(command)
    found = None if status else re.search(regex, out)
    return found and found.group(1)


def get_platform():
    """The system's name as PyTorch shortens it: "linux", "darwin", "win32"."""
    return next((name for name in ("linux", "win32", "cygwin", "darwin") if sys.platform.startswith(name)), sys.platform)


def get_os(run_lambda):
    """The name of the system and of the processor."""
    machine = platform.machine()
    try:
        named = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        named = f"macOS {platform.mac_ver()[0]}" if sys.platform == "darwin" else platform.platform()
    return f"{named} ({machine})"


def get_gcc_version(run_lambda):
    """The version of GCC, or None."""
    return run_and_parse_first_match(run_lambda, "gcc --version", r"gcc (.*)")


def get_clang_version(run_lambda):
    """The version of Clang, or None."""
    return run_and_parse_first_match(run_lambda, "clang --version", r"clang version (.*)")


def get_cmake_version(run_lambda):
    """The version of CMake, or None."""
    return run_and_parse_first_match(run_lambda, "cmake --version", r"cmake (.*)")


def get_libc_version():
    """The version of the C library, on Linux."""
    return "-".join(platform.libc_ver()) if get_platform() == "linux" else "N/A"


def get_python_platform():
    """The system as Python names it."""
    return platform.platform()


def get_nvidia_driver_version(run_lambda):
    """The version of NVIDIA's driver, or None."""
    return run_and_parse_first_match(run_lambda, "nvidia-smi --query-gpu=driver_version --format=csv,noheader", r"(.+)")


def get_running_cuda_version(run_lambda):
    """The version of NVIDIA's compiler, or None."""
    return run_and_parse_first_match(run_lambda, "nvcc --version", r"release .+ V(.*)")


def get_gpu_info(run_lambda):
    """NVIDIA's GPUs, a line each, without what tells one from another of its kind; None if there are none."""
    said = run_and_read_all(run_lambda, "nvidia-smi -L")
    return said and re.sub(r" \(UUID: .+?\)", "", said)


def get_cpu_info(run_lambda):
    """What `lscpu` says of the processor; elsewhere, its name."""
    return run_and_read_all(run_lambda, "lscpu") or platform.processor() or None


def get_pip_packages(run_lambda, patterns=None):
    """("pip3", the packages whose names hold one of the patterns, a line each). Python is asked itself, not pip."""
    patterns = COMMON_PATTERNS + PIP_PATTERNS if patterns is None else patterns
    known = {(found.metadata["Name"], found.version) for found in importlib.metadata.distributions()}
    return "pip3", "\n".join(f"{name}=={version}" for name, version in sorted(known) if name and any(part in name for part in patterns))


def get_conda_packages(run_lambda, patterns=None):
    """The packages of conda whose names hold one of the patterns, a line each; None without conda."""
    said = run_and_read_all(run_lambda, [os.environ.get("CONDA_EXE", "conda"), "list"])
    patterns = COMMON_PATTERNS if patterns is None else patterns
    return said and "\n".join(line for line in said.splitlines() if not line.startswith("#") and any(part in line for part in patterns))


def get_env_info():
    """A `SystemEnv` of all that is asked."""
    jax = " and ".join(f"{name} {importlib.metadata.version(name)}" for name in ("jax", "jaxlib"))
    pip_version, packages = get_pip_packages(run)
    return SystemEnv(
        torch_version=f"{jtensor.__version__} (jtensor: PyTorch's interface on {jax})", is_debug_build="False", cuda_compiled_version=None,
        gcc_version=get_gcc_version(run), clang_version=get_clang_version(run), cmake_version=get_cmake_version(run), os=get_os(run),
        libc_version=get_libc_version(), python_version=f"{sys.version.replace(chr(10), ' ')} ({sys.maxsize.bit_length() + 1}-bit runtime)",
        python_platform=get_python_platform(), is_cuda_available=str(jtensor.cuda.is_available()),
        cuda_runtime_version=get_running_cuda_version(run), cuda_module_loading="N/A",
        nvidia_driver_version=get_nvidia_driver_version(run), nvidia_gpu_models=get_gpu_info(run),
        cudnn_version=None, is_xpu_available="False", pip_version=pip_version, pip_packages=packages,
        conda_packages=get_conda_packages(run), hip_compiled_version="N/A", hip_runtime_version="N/A", miopen_runtime_version="N/A",
        caching_allocator_config={}, is_xnnpack_available="False", cpu_info=get_cpu_info(run))


def pretty_str(envinfo):
    """PyTorch's text of a `SystemEnv`."""
    told = dict(envinfo._asdict(), caching_allocator_config=envinfo.caching_allocator_config or "N/A")
    for name, mark in (("pip_packages", envinfo.pip_version), ("conda_packages", "conda")):
        lines = told[name].splitlines() if told[name] else ["Could not collect"]
        told[name] = "\n".join(f"[{mark}] {line}" for line in lines)
    if told["nvidia_gpu_models"] and "\n" in told["nvidia_gpu_models"]:
        told["nvidia_gpu_models"] = "\n" + told["nvidia_gpu_models"]
    return _TEXT.format(**{name: "Could not collect" if value is None else value for name, value in told.items()})


def get_pretty_env_info():
    """All that is asked, as text.

    >>> from jtensor.utils.collect_env import get_pretty_env_info
    >>> get_pretty_env_info().splitlines()[0].startswith("PyTorch version: 2.13.0+jtensor")
    True
    """
    return pretty_str(get_env_info())


def main():
    """Prints all that is asked."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
