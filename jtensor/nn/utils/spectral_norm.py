"""Spectral normalisation by a hook: a weight divided by its largest singular value before each forward pass."""
import jtensor

from .. import functional as F
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..parameter import Parameter, UninitializedParameter
from ._weight_hooks import found, take_out

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook: computes ``name`` from ``name_orig``, following its largest singular vectors ``name_u`` and ``name_v``."""

    _version = 1                               # of what a state dict says of the hook

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.dim, self.n_power_iterations, self.eps = name, dim, n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight):
        """The weight as a matrix of ``dim`` by all the rest."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        """The normalised weight; with ``do_power_iteration`` the vectors take a step first."""
        weight, u, v = (getattr(module, self.name + part) for part in ("_orig", "_u", "_v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with jtensor.no_grad():
                for _ in range(self.n_power_iterations):
                    v = F.normalize(jtensor.mv(matrix.t(), u), dim=0, eps=self.eps, out=v)
                    u = F.normalize(jtensor.mv(matrix, v), dim=0, eps=self.eps, out=u)
                u, v = u.clone(), v.clone()    # the buffers are written to at the next step, and this one's backward needs them
        return weight / jtensor.dot(u, jtensor.mv(matrix, v))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Splits a parameter up and registers the hook. RuntimeError where it is split already."""
        if found(module, SpectralNorm, name) is not None:
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError("The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy forward "
                             "before applying spectral normalization")
        with jtensor.no_grad():
            rows, columns = hook.reshape_weight_to_matrix(weight).shape
            u, v = (F.normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in (rows, columns))
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)     # a plain tensor until the first forward pass
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook

    def right_vector(self, matrix, u, sigma):
        """The vector ``v`` for which ``u W v`` is ``sigma``, in the direction of the least squares' solution of ``W v = u``."""
        v = jtensor.mv(jtensor.linalg.pinv(matrix.t().mm(matrix)), jtensor.mv(matrix.t(), u))
        return v * (sigma / jtensor.dot(u, jtensor.mv(matrix, v)))

    def remove(self, module):
        """Puts the weight back as one parameter."""
        with jtensor.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for part in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + part)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


class SpectralNormStateDictHook:
    """Writes PyTorch's note of the hook's version into the metadata of a state dict."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, module, state_dict, prefix, local_metadata):
        local_metadata.setdefault("spectral_norm", {})[self.fn.name + ".version"] = self.fn._version


class SpectralNormLoadStateDictPreHook:
    """Makes of a state dict from before PyTorch 1.0, which has the normalised weight and no ``_v``, one of today."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        version = local_metadata.get("spectral_norm", {}).get(self.fn.name + ".version")
        name = prefix + self.fn.name
        today = name not in state_dict and all(name + part in state_dict for part in ("_orig", "_u", "_v"))
        if version is None and today or version is not None and version >= 1:
            return
        missing = [name + part for part in ("_orig", "", "_u") if name + part not in state_dict]
        if missing:
            missing_keys.extend(missing if strict else [])
            return
        with jtensor.no_grad():
            whole = state_dict[name + "_orig"]
            sigma = (whole / state_dict.pop(name)).mean()
            state_dict[name + "_v"] = self.fn.right_vector(self.fn.reshape_weight_to_matrix(whole), state_dict[name + "_u"], sigma)


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides a parameter by its largest singular value as a matrix of ``dim`` (1 for transposed convolutions, else 0) by the rest.

    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(20, 40))
    >>> layer.weight_u.shape, layer.weight_v.shape
    (torch.Size([40]), torch.Size([20]))
    """
    if dim is None:
        dim = int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Undoes `spectral_norm`; answers with the module. ValueError where there is nothing to undo.

    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3))
    >>> sorted(name for name, _ in torch.nn.utils.remove_spectral_norm(layer).named_parameters())
    ['bias', 'weight']
    """
    take_out(module, SpectralNorm, name, "spectral_norm")
    for hooks, kind in (module._state_dict_hooks, SpectralNormStateDictHook), (module._load_state_dict_pre_hooks,
                                                                              SpectralNormLoadStateDictPreHook):
        for key, hook in hooks.items():
            hook = getattr(hook, "hook", hook)
            if isinstance(hook, kind) and hook.fn.name == name:
                del hooks[key]
                break
    return module
