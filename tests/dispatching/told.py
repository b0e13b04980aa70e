"""All that is compared of ``__torch_dispatch__``, as lines of text: ``told(torch)``. As a script it prints that of "torch" as JSON."""
import json
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import dispatched_cases
import mode_cases
import wrapped_cases

sys.path.pop(0)


def functions(torch):
    """{name: function that answers its lines}."""
    made = {name: (lambda function=function: dispatched_cases.logged(torch, function))
            for name, function in dispatched_cases.programs(torch).items()}
    made |= {"mode_" + name: function for name, function in mode_cases.programs(torch).items()}
    return made | {"wrapped_" + name: function for name, function in wrapped_cases.programs(torch).items()}


def told(torch):
    """{name: lines}."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                            # of tensors with histories that become numbers
        return {name: function() for name, function in functions(torch).items()}


if __name__ == "__main__":
    import torch
    print(json.dumps(told(torch)))
