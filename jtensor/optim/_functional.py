"""`torch.optim._functional`: the methods as functions of lists, and the sparse Adam, which has its function here alone."""
from ._method import update_lists
from .adadelta import adadelta as adadelta
from .adagrad import adagrad as adagrad
from .adam import adam as adam
from .adamax import adamax as adamax
from .adamw import adamw as adamw
from .asgd import asgd as asgd
from .nadam import nadam as nadam
from .radam import radam as radam
from .rmsprop import rmsprop as rmsprop
from .rprop import rprop as rprop
from .sgd import sgd as sgd
from .sparse_adam import SparseAdam


def sparse_adam(params, grads, exp_avgs, exp_avg_sqs, state_steps, *, eps, beta1, beta2, lr, maximize):
    """One step of `SparseAdam` on lists of tensors, which change in place. The counts are numbers of steps with this one among them.

    >>> import jtensor as torch
    >>> p, grad = torch.ones(3), torch.sparse_coo_tensor([[2]], [4.], (3,), check_invariants=True)
    >>> sparse_adam([p], [grad], [torch.zeros(3)], [torch.zeros(3)], [1], eps=1e-8, beta1=0.9, beta2=0.999, lr=0.5, maximize=False)
    >>> p
    tensor([1.0000, 1.0000, 0.5000])
    """
    update_lists(SparseAdam, params, grads, {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "step": state_steps}, eps=eps,
                 betas=(beta1, beta2), lr=lr, maximize=maximize)
