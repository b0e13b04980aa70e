"""The unpickler of files of weights: it calls and changes nothing but what such files need.

Owns: which calls and which states it refuses. Finding names is for who derives from it. It is Python's own unpickler in Python, since
the one in C gives a state to whatever the file says: to a class, or to a function.
"""
import collections
import pickle

from . import names

REFUSED = "Weights only load failed. "
NO_LONGER = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running "
    "`torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code execution. Do it only if "
    "you got the file from a trusted source.")
DOCUMENTED = ("\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only "
              "https://pytorch.org/docs/stable/generated/torch.load.html.")
NOT_ALLOWED = (
    "This file can still be loaded, to do so you have two options, \x1b[1mdo those steps only if you trust the source of the checkpoint"
    "\x1b[0m. \n\t(1) " + NO_LONGER + "\n\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the "
    "following error message.\n\tWeightsUnpickler error: Unsupported global: GLOBAL {0} was not an allowed global by default. Please use "
    "`torch.serialization.add_safe_globals([{0}])` or the `torch.serialization.safe_globals([{0}])` context manager to allowlist this "
    "global if you trust this class/function." + DOCUMENTED)
BLOCKED = ("sys", "os", "posix", "nt")                # modules of which a file of weights may name nothing, whoever allows it


class Ignored:
    """What a file tells that is not used here."""

    def __setstate__(self, state):
        """Nothing is kept."""


class Unpickler(pickle._Unpickler):
    """Calls what `find_class` has answered, and gives states to ordered dictionaries and to objects of classes that the user allows."""

    def __init__(self, file, **options):
        super().__init__(file, **options)
        self.named = {}                               # id: what the file has named

    def find_class(self, module, name):
        if module in BLOCKED:
            raise pickle.UnpicklingError(f"{REFUSED}{NO_LONGER}\n\n\nTrying to load unsupported GLOBAL {module}.{name} whose module "
                                         f"{module} is blocked.{DOCUMENTED}")
        found = self.find(module, name)
        self.named[id(found)] = found
        return found

    def call(self):
        if id(self.stack[-2]) not in self.named:
            raise pickle.UnpicklingError(f"{REFUSED}Trying to call reduce for unrecognized function {self.stack[-2]}")
        super().load_reduce()

    def build(self):
        built, state = self.stack[-2:]
        known = type(built) is collections.OrderedDict and isinstance(state, dict) or type(built) is Ignored
        if not known and not names.is_allowed_by_user(type(built)):
            raise pickle.UnpicklingError(f"{REFUSED}Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                                         f"`add_safe_globals`, but got {type(built)}")
        super().load_build()

    dispatch = pickle._Unpickler.dispatch | {pickle.REDUCE[0]: call, pickle.BUILD[0]: build}
