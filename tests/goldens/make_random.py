"""Stores what PyTorch answers to the random calls of ``tests/random/random_cases.py``: ``python tests/goldens/make_random.py``, with torch.

``random_streams.npz`` holds, per case, a digest of the bytes of the numbers and one of the state bytes after the call.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "random"), str(HERE.parent.parent)]


def main():
    import random_cases
    import torch

    warnings.simplefilter("ignore")
    digests = [random_cases.digest(*random_cases.theirs(case, torch)) for case in random_cases.cases(random_cases.GOLDEN_SEED)]
    np.savez_compressed(HERE / "random_streams.npz", digests=np.array(digests, np.uint8), torch=np.array(torch.__version__))
    print(len(digests), "cases")


if __name__ == "__main__":
    main()
