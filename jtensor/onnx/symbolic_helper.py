"""`torch.onnx.symbolic_helper`: what functions that write an operator as ONNX are decorated with. They are never called here."""

__all__ = ["parse_args"]


def parse_args(*arg_descriptors):
    """Says what the arguments of such a function are. A decorator: the function keeps it as ``_arg_descriptors``, as in PyTorch."""
    def mark(fn):
        fn._arg_descriptors = arg_descriptors
        return fn
    return mark
