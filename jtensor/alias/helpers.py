"""What PyTorch's modules have of their own imports, as programs reach it through them: `torch.sparse.torch.eye`, `F.math`.

Owns: which module has which of these names, and what they are. May not know: tensors.
"""
import importlib

HELD = {
    "torch": """_utils autograd autograd.function cuda distributions.distribution distributions.utils fft functional futures hub jit
        multiprocessing nn.functional nn.init nn.modules.activation nn.modules.batchnorm nn.modules.container nn.modules.conv
        nn.modules.linear nn.modules.module nn.modules.normalization nn.modules.rnn nn.modules.sparse nn.modules.transformer
        nn.parameter nn.utils.clip_grad nn.utils.rnn optim.adam optim.optimizer overrides random serialization sparse special storage
        utils.checkpoint utils.data.dataloader""",
    "Tensor": """distributions.distribution distributions.utils fft functional nn.functional nn.init nn.modules.activation
        nn.modules.batchnorm nn.modules.conv nn.modules.linear nn.modules.loss nn.modules.module nn.modules.normalization
        nn.modules.rnn nn.modules.sparse nn.modules.transformer nn.utils.clip_grad nn.utils.rnn optim.adam optim.lr_scheduler sparse
        special types utils.data.dataset""",
    "math": "_utils nn.functional nn.modules.loss optim.lr_scheduler",
    "warnings": """_utils autograd cuda hub jit nn.functional nn.modules.module nn.utils.rnn optim.lr_scheduler overrides random
        serialization storage""",
    "nn.functional:F": "distributions.utils functional",
    "numpy:np": "nn.functional storage",
    "nn.modules.utils:_pair": "nn.functional nn.modules.conv",
    "nn.modules.utils:_single": "nn.functional nn.modules.conv",
    "os": "_utils cuda hub profiler serialization types",
    "sys": "_utils hub multiprocessing overrides serialization",
    "re": "_utils hub serialization",
    "itertools": "autograd.function functional nn.modules.module utils.checkpoint",
    "functools": "_utils nn.modules.module nn.utils.clip_grad optim.optimizer overrides serialization storage utils.data.dataloader",
    "collections": "overrides storage",
    "copy": "storage",
    "inspect": "autograd.function nn.modules.module",
    "queue": "utils.data.dataloader",
    "types": "optim.lr_scheduler overrides",
}
"""{a module of Python's, a name of the package's, or module:name: the modules, below the package, that have it as an attribute}."""

_PLACES = {(path, key.rpartition(":")[2]): key for key, paths in HELD.items() for path in paths.split()}


def has(path, name):
    """Whether PyTorch's module of that path, below `torch`, has such a name."""
    return (path, name) in _PLACES


def get(target, path, name):
    """What it is in that package."""
    home, _, inner = _PLACES[path, name].rpartition(":")
    if name == "torch":
        return importlib.import_module(target)
    if name == "Tensor":
        return importlib.import_module(target).Tensor
    if home == "nn.functional":
        return importlib.import_module(f"{target}.{home}")
    if home == "nn.modules.utils":
        return getattr(importlib.import_module(f"{target}.{home}"), inner)
    return importlib.import_module(home or inner)
