"""The inside of PyTorch's `torch.func`, which libraries rewrite to have `vmap` take objects of their own. It has no such inside here.

    vmap.py              what they import; setting its names changes nothing, and `torch.vmap` says of such objects that they are no tensors
    apis.py, eager_transforms.py, batch_norm_replacement.py   `torch.func`, by the places where PyTorch has it
    deprecated.py        `torch.func` by its names of before
    make_functional.py   modules made functions of their parameters
    python_key.py        graphs of functions, which are refused
"""
