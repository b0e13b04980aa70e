"""The names of ``torch._ops`` by which programs ask whether something is an operator."""
from .library.spaces import OpOverload, OpOverloadPacket, _OpNamespace  # noqa: F401
