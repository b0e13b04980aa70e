"""`torch.export`: programs taken out of Python as graphs. None is: what runs is recorded and becomes XLA's. Owns: the names of that."""
from ..base.errors import missing

__all__ = ["ExportedProgram", "export"]


def _refused():
    return missing("programs as graphs (torch.export)", "a state dict, torch.save(model.state_dict(), path), and the model's code")


class ExportedProgram:
    """A program as a graph. To be named alone: there is no instance."""

    def __new__(cls, *args, **kwargs):
        raise _refused()


def export(mod, args, kwargs=None, **options):
    """Raises ``NotImplementedError``."""
    raise _refused()
