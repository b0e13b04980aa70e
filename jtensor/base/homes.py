"""Where a class says that it comes from, which is where PyTorch has it: files of whole objects name the place, `type(x)` shows it.

Owns: the change of that place. May not know: which classes live elsewhere; the packages that show them say so.
"""
import sys


def settle(home, *classes):
    """Has the module called ``home`` show the classes, which say that they come from it, in whatever room they are written.

    >>> class Layer: ...
    >>> settle("jtensor.base.homes", Layer)
    >>> Layer, Layer is sys.modules["jtensor.base.homes"].Layer
    (<class 'jtensor.base.homes.Layer'>, True)
    """
    module = sys.modules[home]
    for cls in classes:
        line = vars(cls).get("__firstlineno__")
        cls.__module__ = home
        if line is not None:                    # Python 3.13 forgets it then, and `inspect.getsource` does not find the class
            cls.__firstlineno__ = line
        setattr(module, cls.__name__, cls)
