"""Operators, one declaration each (`families/`), and what is worked out from a declaration for given inputs: a plan (`build`), what its
node saves (`saves`), the plan of its backward (`gradient`).

To users this is `torch.ops`: the operators of the libraries that they define (`library.spaces`), as attributes.
"""
NAMESPACES = {}                 # {a library's name: what its operators are attributes of}


def __getattr__(name):
    if name in NAMESPACES:
        return NAMESPACES[name]
    raise AttributeError(f"there is no library called '{name}'; torch.library defines one, and PyTorch's own operators are the functions "
                         "of torch")
