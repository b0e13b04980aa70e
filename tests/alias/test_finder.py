"""What imports under the alias give, and what is said of names that are not there."""

import pytest


def test_imports_give_the_same_modules(runs):
    assert runs.lines("""
        import torch
        import torch.nn as nn
        import torch.utils.data
        import torch.nn.modules.linear as linear
        from torch import nn as again, tensor
        from torch.nn import functional as F, Linear
        from torch.utils.data import DataLoader
        from torch.lazy import found
        import standin, sys
        print(torch is standin, nn is standin.nn is again, F is standin.nn.functional, linear.Linear is Linear, found)
        print(torch.utils.data is standin.utils.data, torch.lazy is standin.lazy is sys.modules["torch.lazy"], tensor is standin.tensor)
        print([m.__spec__.name for m in (torch, nn, F)], torch.__name__, torch.__spec__.submodule_search_locations == list(torch.__path__))
    """) == ["True True True True 1", "True True True", "['standin', 'standin.nn', 'standin.nn.functional'] torch True"]


def test_a_function_called_like_its_module_stays(runs):
    assert runs.lines("""
        import torch
        from torch.utils.norm import Norm
        import torch.utils.norm, sys
        print(torch.utils.norm.__name__, Norm, type(torch.utils.norm).__name__, sys.modules["torch.utils.norm"].Norm is Norm)
    """) == ["norm <class 'torch.utils.norm.Norm'> function True"]


def test_classes_and_pickles(runs):
    assert runs.lines("""
        import torch, pickle, copy
        from torch.utils.data import DataLoader
        print(torch.Tensor, torch.nn.Linear, DataLoader)
        for one in (torch.Tensor(), torch.nn.Linear()):
            assert type(pickle.loads(pickle.dumps(one))) is type(one) is type(copy.deepcopy(one))
        print(pickle.loads(b"ctorch.nn.modules.linear\\nLinear\\n."), pickle.loads(pickle.dumps(torch.__version__)))
        import inspect
        print(inspect.getsource(torch.nn.Linear).strip())
    """) == [
        "<class 'torch.Tensor'> <class 'torch.nn.modules.linear.Linear'> <class 'torch.utils.data.DataLoader'>",
        "<class 'torch.nn.modules.linear.Linear'> 2.13.0+jtensor",
        "class Linear: pass",
    ]


WHO = "jtensor, which stands in for torch in this process (`python -m standin`), does not have"


CLOSEST = " Closest names that it has: "
ABSENT = {  # statement: (the exception, its first line, the second one after the sentence above)
    "torch.foo": ("AttributeError", "module 'torch' has no attribute 'foo'", "torch.foo."),
    "torch.relu6": ("AttributeError", "module 'torch' has no attribute 'relu6'", f"torch.relu6.{CLOSEST}torch.nn.functional.relu6."),
    "torch.nn.Linea": ("AttributeError", "module 'torch.nn' has no attribute 'Linea'", f"torch.nn.Linea.{CLOSEST}torch.nn.Linear."),
    "torch.lazy.foun": ("AttributeError", "module 'torch.lazy' has no attribute 'foun'", f"torch.lazy.foun.{CLOSEST}torch.lazy.found."),
    "import torch.foo": ("ModuleNotFoundError", "No module named 'torch.foo'", "a module torch.foo."),
    "import torch.foo.bar": ("ModuleNotFoundError", "No module named 'torch.foo'", "a module torch.foo."),
    "from torch.foo import bar": ("ModuleNotFoundError", "No module named 'torch.foo'", "a module torch.foo."),
    "import torch.tensor": ("ModuleNotFoundError", "No module named 'torch.tensor'", f"a module torch.tensor.{CLOSEST}torch.Tensor."),
    "import torch.base": ("ModuleNotFoundError", "No module named 'torch.base'", "a module torch.base."),
    "import torch.nn.functional.x": ("ModuleNotFoundError", "No module named 'torch.nn.functional.x'; 'torch.nn.functional' is not", None),
    "from torch import foo": ("ImportError", "cannot import name 'foo' from 'torch' (", "torch.foo."),
    "from torch.nn.functional import rleu": (
        "ImportError",
        "cannot import name 'rleu' from 'torch.nn.functional' (",
        f"torch.nn.functional.rleu.{CLOSEST}torch.nn.functional.relu, torch.nn.functional.relu6.",
    ),
}


@pytest.mark.parametrize("statement, expected", ABSENT.items(), ids=ABSENT)
def test_absent_names(runs, statement, expected):
    kind, first, second = expected
    lines = runs.lines(f"""
        import torch
        try:
            {statement}
        except Exception as error:
            print(type(error).__name__)
            print(error)
    """)
    assert lines[0] == kind and lines[1].startswith(first)
    assert lines[2:] == ([] if second is None else [f"{WHO} {second}"])


def test_asking_without_importing(runs):
    assert runs.lines("""
        import importlib.util, torch
        print(hasattr(torch, "foo"), getattr(torch, "foo", 1), hasattr(torch, "__wrapped__"), importlib.util.find_spec("torch.foo"))
        print(importlib.util.find_spec("torch").name, importlib.util.find_spec("torch.lazy").name)
        print("lazy" in vars(torch), torch.tensor)
    """)[:2] == ["False 1 False None", "standin torch.lazy"]


def test_only_who_reads_the_text_has_close_names_looked_for(runs):
    """Libraries ask for hundreds of names that may be there or not."""
    assert runs.lines("""
        import difflib, pickle, torch
        asked, close = [], difflib.get_close_matches
        difflib.get_close_matches = lambda *given, **named: asked.append(given) or close(*given, **named)
        hasattr(torch.nn, "Linea"), getattr(torch.nn, "Linea", None)
        try:
            from torch.nn import Linea
        except ImportError as error:
            again = error
        print(len(asked))
        print(str(again).endswith("torch.nn.Linear."), str(pickle.loads(pickle.dumps(again))) == str(again), len(asked) > 0)
    """) == ["0", "True True True"]


def test_an_absent_method_is_explained_below_an_uncaught_error(runs):
    runs.write("script.py", "import torch\ntorch.tensor().rleu()")
    found = runs.alias("script.py")
    *_, first, second = found.stderr.splitlines()
    assert first.startswith("AttributeError: 'Tensor' object has no attribute 'rleu'")
    assert second == f"{WHO} Tensor.rleu. Closest names that it has: .relu."
    runs.write("script.py", "class Mine: pass\nMine().x")
    assert "jtensor" not in runs.alias("script.py").stderr


def test_torch_imported_before_is_refused(runs):
    runs.write("torch.py", "")
    found = runs.python("-c", "import torch, standin.alias; standin.alias.install()")
    assert "ImportError: torch is imported already (from " in found.stderr
    found = runs.python("-c", "import standin.alias as a; assert a.install() is a.install(); import torch; print(torch.__spec__.name)")
    assert found.stdout == "standin\n"
    found = runs.python("-c", "import standin.alias as a; a.install(); a.install('other')")
    assert "ImportError: torch stands for standin already" in found.stderr


def test_parts_that_are_imported_later_go_by_the_alias(runs):
    """Also those that an import statement names as a part of a module, and those that the library itself imports first."""
    assert runs.lines("""
        from torch.utils import later
        import torch
        print(later.Later, torch.utils.other.Other, torch.utils.later is later, later.__spec__.loader is later.__loader__)
        print(type(later.__loader__).__name__)
    """) == ["<class 'torch.utils.later.Later'> <class 'torch.utils.other.Other'> True True", "SourceFileLoader"]


def test_a_class_names_a_module_that_is_there(runs):
    """Without anybody having imported it by that name: its source is found, and so are the names in its annotations."""
    assert runs.lines("""
        import torch, inspect, sys
        print(inspect.getsource(torch.nn.Linear).strip(), sys.modules[torch.nn.Linear.__module__].Linear is torch.nn.Linear)
    """) == ["class Linear: pass True"]
