"""`torch.backends.cpu`: what the processor can."""
from pathlib import Path

_LEVELS = (("AVX512", {"avx512f", "avx512bw", "avx512dq", "avx512vl"}), ("AVX2", {"avx2", "fma"}))


def get_cpu_capability():
    """The widest vectors that the processor has: "AVX512", "AVX2", else (and where nothing tells) "DEFAULT".

    It says what the machine has; which of it XLA uses is XLA's choice.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "DEFAULT"
    flags = next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), set())
    return next((name for name, needed in _LEVELS if needed <= flags), "DEFAULT")
