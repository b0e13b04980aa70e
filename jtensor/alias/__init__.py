"""Making ``import torch`` mean jtensor, so that an unmodified PyTorch script runs here.

    python -m jtensor script.py args...     # the usual way
    import jtensor.alias
    jtensor.alias.install()                 # the same for the rest of this process, before the first `import torch`

This is the last layer and the only room that knows of the name under which the library may stand in; nothing else in the
library may import it.

    finder.py    answers `import torch...` with jtensor's own module objects
    naming.py    what such a module shows about itself: class names, version, absent names
    helpers.py   what PyTorch's modules have of their own imports (`torch.sparse.torch`)
    missing.py   the text of an honest error for a name that jtensor does not have
    metadata.py  the version that scripts and packages ask for
    children.py  processes that multiprocessing starts anew
    run.py       `python -m jtensor`: a script, module or command run as python itself would run it
"""

from .finder import install

__all__ = ["install"]
