"""The kinds of device by DLPack's numbers. Owns: `torch.utils.dlpack.DLDeviceType`. May not know: memory."""
import enum


class DLDeviceType(enum.IntEnum):
    """The kinds of device that DLPack knows, by its numbers.

    >>> torch.ones(1).__dlpack_device__()
    (<DLDeviceType.kDLCPU: 1>, 0)
    """

    __module__ = "torch.utils.dlpack"
    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17
