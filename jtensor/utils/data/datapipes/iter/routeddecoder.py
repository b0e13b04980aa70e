"""Files as the objects they hold, by the ends of their names: `RoutedDecoder`, which PyTorch calls deprecated."""
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import _deprecation_warning
from ..utils.decoder import Decoder, basichandlers, extension_extract_fn, imagehandler
from .utils import length_of

__all__ = ["RoutedDecoderIterDataPipe"]


@functional_datapipe("routed_decode")
class RoutedDecoderIterDataPipe(IterDataPipe):
    """Pairs of a path and what handlers (`utils.decoder`) make of the opened file; without handlers, texts, numbers, JSON, pickles and
    images as tensors."""

    def __init__(self, datapipe, *handlers, key_fn=extension_extract_fn):
        self.datapipe = datapipe
        self.decoder = Decoder(*(handlers or (basichandlers, imagehandler("torch"))), key_fn=key_fn)
        _deprecation_warning(type(self).__name__, deprecation_version="1.12", removal_version="1.13", old_functional_name="routed_decode")

    def add_handler(self, *handler):
        """Adds handlers, which are asked after those that are there."""
        self.decoder.add_handler(*handler)

    def __iter__(self):
        for data in self.datapipe:
            yield data[0], self.decoder(data)[data[0]]

    def __len__(self):
        return length_of(self, self.datapipe)[0]
