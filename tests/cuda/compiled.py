"""What XLA makes for a GPU that is not there: a script's programs, compiled for one beside their run.

    pip install jax==0.11.2 jaxlib==0.11.2 jax-cuda13-plugin==0.11.2 jax-cuda13-pjrt==0.11.2 'nvidia-cuda-nvcc==13.0.*'
    python tests/cuda/compiled.py script.py arguments

In the script ``"cuda"`` is a client of the CPU that passes for a GPU (as in `conftest.gpu`): what is recorded for it is written and fenced
as for a GPU. Each program is also lowered for CUDA and compiled, by the plugin's compiler, for an NVIDIA H200, which needs no driver. A
line says how long that took, what the program consists of, and whether something in it waits for the host (``conditional``, ``while``). On
the host of an H200 the same program, of a GPT's step, took as long (2.8 s). What a program takes to run does not show.
"""
import collections
import os
import re
import runpy
import sys
import time
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("JTENSOR_CACHE", "0")

import jax
import numpy as np
from jax._src import compiler, xla_bridge
from jax.experimental import topologies

from jtensor.base import compat
from jtensor.base.compat import lowering, programs
from jtensor.trace.lowering import executable

sys.path.append(str(Path(__file__).resolve().parents[1]))
import standing_in

H200 = """gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535
  block_dim_limit_z: 65535 memory_bandwidth: 4800000000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 150000000000 shared_memory_per_block_optin: 232448 cuda_compute_capability { major: 9 }
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA" dnn_version_info { major: 9 minor: 10 } runtime_version { major: 13 } device_description_str: "NVIDIA H200"
"""
SAID = ("fusion", "custom-call", "copy", "sort", "scatter", "while", "conditional", "convolution", "reduce")


def absent():
    """A device that programs can be compiled for and not run on."""
    import jax_plugins.xla_cuda13 as plugin
    xla_bridge._discover_and_register_pjrt_plugins()
    if "cuda" not in xla_bridge._topology_factories:                # JAX asks for a driver first
        xla_bridge.register_plugin("cuda", priority=-1, library_path=str(plugin._get_library_path()), options={})
    return topologies.get_topology_desc(platform="cuda", topology_name="", topology="1x1x1", target_config=H200).devices[0]


class _Gpu:
    """A client of the CPU under another name."""

    platform = "gpu"

    def __init__(self, device):
        self._device = device

    def __getattr__(self, name):
        return getattr(self._device, name)


def pass_for_a_gpu(found):
    """``cuda:0`` is there from now on; ``found(jaxpr, aliases, name)`` hears of each program for it."""
    place, lowered = compat.cpu_apart(queue=True), programs.lowered_module
    standing_in.pass_for_a_gpu(place)
    compat.default_device = lambda: _Gpu(place)                     # of which the rooms above ask the platform alone

    def heard(jaxpr, aliases, device, name):
        if device is place:
            found(jaxpr, aliases, name)
        return lowered(jaxpr, aliases, device, name)
    programs.lowered_module = heard


def consists_of(text):
    """{kind: how many} of what a compiled program runs one after another."""
    counts = collections.Counter(re.findall(r" = .*? ([a-z-]+)\(", text[text.index("\nENTRY"):]))
    return {kind: counts[kind] for kind in SAID if counts[kind]}


def main(script, *arguments):
    gpu = absent()

    def compile_it(jaxpr, aliases, name):
        begin = time.perf_counter()
        module = lowering.lowered_module(jaxpr, aliases, gpu, name)[0]
        options = compiler.get_compile_options(1, 1, device_assignment=np.array([[gpu]]), backend=gpu.client,
                                               env_options_overrides=executable._ALWAYS["gpu"])
        made = gpu.client.compile(module, executable_devices=jax._src.lib.xla_client.DeviceList((gpu,)), compile_options=options)
        print(f"{len(jaxpr.jaxpr.eqns):6} equations {time.perf_counter() - begin:6.2f} s", consists_of(made.hlo_modules()[0].to_string()),
              file=sys.stderr, flush=True)
    pass_for_a_gpu(compile_it)
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
