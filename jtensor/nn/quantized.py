"""`torch.nn.quantized`: operations as modules, which a model that is to be quantised uses in place of functions."""
import jtensor

from .modules import Identity, Module

__all__ = ["FloatFunctional"]


class FloatFunctional(Module):
    """Sums, products and the like as a module, where observers find them. Computes in floating point what functions of these names do.

    ``activation_post_process`` is called with what is computed (but by `add_scalar` and `mul_scalar`, which change no range), and does
    nothing. RuntimeError when it is called itself.

    >>> torch.ao.nn.quantized.FloatFunctional().add(torch.tensor(3.0), torch.tensor(4.0))
    tensor(7.)

    Source: https://docs.pytorch.org/docs/stable/generated/torch.ao.nn.quantized.FloatFunctional.html
    """

    __module__ = "torch.ao.nn.quantized.modules.functional_modules"

    def __init__(self):
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x):
        """Raises RuntimeError."""
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x, y):
        """``x + y``."""
        return self.activation_post_process(jtensor.add(x, y))

    def add_scalar(self, x, y):
        """``x + y`` with a number."""
        return jtensor.add(x, y)

    def mul(self, x, y):
        """``x * y``."""
        return self.activation_post_process(jtensor.mul(x, y))

    def mul_scalar(self, x, y):
        """``x * y`` with a number."""
        return jtensor.mul(x, y)

    def cat(self, x, dim=0):
        """`torch.cat`."""
        return self.activation_post_process(jtensor.cat(x, dim=dim))

    def add_relu(self, x, y):
        """``relu(x + y)``."""
        return self.activation_post_process(jtensor.relu(jtensor.add(x, y)))

    def matmul(self, x, y):
        """``x @ y``."""
        return self.activation_post_process(jtensor.matmul(x, y))
