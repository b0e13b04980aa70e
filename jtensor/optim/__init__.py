"""Methods that change parameters along their gradients.

>>> import jtensor as torch
>>> p = torch.nn.Parameter(torch.zeros(1))
>>> optimizer = torch.optim.SGD([p], lr=0.5)
>>> (p - 3).pow(2).sum().backward()
>>> optimizer.step()
>>> p.detach()
tensor([3.])
"""
import importlib

from ..base.homes import settle as _settle
from . import lr_scheduler as lr_scheduler
from ._adafactor import Adafactor
from ._muon import Muon
from ._stateless import swap_in_optimizer_params_and_state
from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

__all__ = ["ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer", "RAdam",
           "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils", "swap_in_optimizer_params_and_state"]

_settle(__name__, Adafactor, Muon)


def __getattr__(name):
    if name == "swa_utils":  # the one room here that knows modules
        return importlib.import_module(__name__ + ".swa_utils")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), "swa_utils"})
