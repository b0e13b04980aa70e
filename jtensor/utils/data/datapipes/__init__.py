"""Data pipes: streams (`iter`) and tables (`map`) of samples that are chained by their methods, ``pipe.map(f).batch(4).shuffle()``.

Imported when somebody first asks for a pipe. ``datapipe`` has the two base classes, ``_typing`` the metaclass by which a stream's methods
are wrapped, ``_hook_iterator`` what they are wrapped in: a stream has one living iterator.
"""
from . import iter as iter
from . import map as map

from . import dataframe as dataframe  # isort: skip  (after what its pipes would stand on)
