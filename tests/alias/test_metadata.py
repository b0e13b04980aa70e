"""The version in its three forms, beside PyTorch's."""

import operator

import pytest

from jtensor.alias.metadata import VERSION, TorchVersion

OPERATORS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
VERSIONS = ["2.13.0+jtensor", "2.13.0", "2.13", "2.5.1", "10.0", "2.13.0a0", "2.13.0.dev20250101", "2.13.0rc1", "2.13.0.post1", "parrot"]
OTHERS = [*VERSIONS, (2, 5), (2, 13), [2, 13, 0], (2, 14), ("2", "13", "0")]


def outcome(compare, a, b):
    try:
        return compare(a, b)
    except TypeError as error:
        return str(error)


def test_comparisons_are_pytorchs():
    theirs = pytest.importorskip("torch").torch_version.TorchVersion
    for a in VERSIONS:
        for b in OTHERS:
            for compare in OPERATORS:
                assert outcome(compare, TorchVersion(a), b) == outcome(compare, theirs(a), b), (a, compare, b)


def test_it_is_a_text():
    version = TorchVersion(VERSION)
    assert isinstance(version, str) and version == VERSION and hash(version) == hash(VERSION)
    assert version.split("+") == ["2.13.0", "jtensor"]
    with pytest.raises(TypeError, match="'>=' not supported between instances of 'TorchVersion' and 'int'"):
        version >= 2
    packaging = pytest.importorskip("packaging.version")
    assert packaging.parse(version).release == (2, 13, 0)


def test_what_a_script_sees(runs):
    assert runs.lines("""
        import importlib.metadata as metadata, torch, torch.version
        from torch.torch_version import TorchVersion
        print(torch.__version__, torch.__version__ >= (2, 0), torch.__version__ >= "2.5", type(torch.__version__) is TorchVersion)
        print(metadata.version("torch"), metadata.version("Torch"), metadata.metadata("torch")["Name"])
        print(metadata.distribution("torch").files)
        print(torch.version.cuda, torch.version.hip, torch.version.debug, torch.version.__version__ == torch.__version__)
        print([d.version for d in metadata.distributions() if d.name == "torch"][0], metadata.version("pytest").count("."))
        try:
            metadata.version("torchvision-of-nobody")
        except metadata.PackageNotFoundError as error:
            print(error)
    """) == [
        "2.13.0+jtensor True True True",
        "2.13.0+jtensor 2.13.0+jtensor torch",
        "None",
        "None None False True",
        "2.13.0+jtensor 2",
        "No package metadata was found for torchvision-of-nobody",
    ]
