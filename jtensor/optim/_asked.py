"""What optimizers that are written after PyTorch's own import from `torch.optim.optimizer` besides `Optimizer`.

Owns: sentences for their documentation, and small questions. May not know: optimizers.
"""
import jtensor

from ..utils._foreach_utils import _get_fused_kernels_supported_devices

DeviceDict = dict[jtensor.device | None, jtensor.Tensor]
DeviceDtypeDict = dict[tuple[jtensor.device, jtensor.dtype] | None, jtensor.Tensor]

_params_doc = "params (iterable): parameters, pairs of a name and a parameter, or dictionaries that are groups of these"
_foreach_doc = "foreach (bool, optional): taken and kept; all parameters go into one program either way (default: None)"
_fused_doc = "fused (bool, optional): taken and kept; all parameters go into one program either way (default: None)"
_capturable_doc = "capturable (bool, optional): taken and kept; there is no CUDA graph to be captured (default: False)"
_differentiable_doc = "differentiable (bool, optional): whether the step records a history for autograd (default: False)"
_maximize_doc = "maximize (bool, optional): whether the objective is to become larger instead of smaller (default: False)"


def _device_dtype_check_for_fused(p, cuda_unsupported=False):
    """RuntimeError for a parameter that PyTorch's fused steps do not take."""
    kinds = [kind for kind in _get_fused_kernels_supported_devices() if not (cuda_unsupported and kind == "cuda")]
    if p.device.type not in kinds or not p.is_floating_point():
        raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of "
                           f"supported devices: {kinds} but {p.dtype} and {p.device.type}")


def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    """A decorator for what PyTorch's compiler of Python code leaves alone in some cases: the function itself, there is no such compiler."""
    return lambda func: func


def _get_scalar_dtype(is_fused=None):
    """The dtype of counts of steps."""
    return jtensor.float64 if not is_fused and jtensor.get_default_dtype() is jtensor.float64 else jtensor.float32


def _to_scalar(x):
    """A setting without dimensions, if it is a tensor that has some."""
    return x.squeeze() if isinstance(x, jtensor.Tensor) and x.dim() != 0 else x


def _view_as_real(params, *state_and_grads):
    """Puts views as pairs of real numbers in the place of complex parameters in a list, and of what the other lists have for them."""
    for at, param in enumerate(params):
        if param.is_complex():
            for some in (params, *state_and_grads):
                some[at] = jtensor.view_as_real(some[at])
