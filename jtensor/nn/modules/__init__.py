"""All layers. Every room's ``__all__`` is re-exported here and by ``jtensor.nn``."""
from ...base.homes import settle as _settle
from ._annotations import annotate as _annotate
from .activation import *  # noqa: F403
from .activation import __all__ as _activation
from .adaptive import *  # noqa: F403
from .adaptive import __all__ as _adaptive
from .attention import *  # noqa: F403
from .attention import __all__ as _attention
from .batchnorm import *  # noqa: F403
from .batchnorm import __all__ as _batchnorm
from .channelshuffle import *  # noqa: F403
from .channelshuffle import __all__ as _channelshuffle
from .container import *  # noqa: F403
from .container import __all__ as _container
from .conv import *  # noqa: F403
from .conv import __all__ as _conv
from .distance import *  # noqa: F403
from .distance import __all__ as _distance
from .dropout import *  # noqa: F403
from .dropout import __all__ as _dropout
from .flatten import *  # noqa: F403
from .flatten import __all__ as _flatten
from .fold import *  # noqa: F403
from .fold import __all__ as _fold
from .instancenorm import *  # noqa: F403
from .instancenorm import __all__ as _instancenorm
from .lazy_conv import *  # noqa: F403
from .lazy_conv import __all__ as _lazy_conv
from .linear import *  # noqa: F403
from .linear import __all__ as _linear
from .linear_cross_entropy import *  # noqa: F403
from .linear_cross_entropy import __all__ as _linear_cross_entropy
from .loss import *  # noqa: F403
from .loss import __all__ as _loss
from .module import Module as Module
from .normalization import *  # noqa: F403
from .normalization import __all__ as _normalization
from .padding import *  # noqa: F403
from .padding import __all__ as _padding
from .parameter_container import __all__ as _parameter_container
from .pixelshuffle import *  # noqa: F403
from .pixelshuffle import __all__ as _pixelshuffle
from .pooling import *  # noqa: F403
from .pooling import __all__ as _pooling
from .rnn import *  # noqa: F403
from .rnn import __all__ as _rnn
from .rnn_cell import __all__ as _rnn_cell
from .softmax import *  # noqa: F403
from .softmax import __all__ as _softmax
from .sparse import *  # noqa: F403
from .sparse import __all__ as _sparse
from .transformer import *  # noqa: F403
from .transformer import __all__ as _transformer
from .upsampling import *  # noqa: F403
from .upsampling import __all__ as _upsampling
from .written_once import give_own as _give_own

__all__ = sorted(["Module", *_activation, *_adaptive, *_attention, *_batchnorm, *_channelshuffle, *_container, *_conv, *_distance,
                  *_dropout, *_flatten, *_fold, *_instancenorm, *_lazy_conv, *_linear, *_linear_cross_entropy, *_loss, *_normalization,
                  *_padding, *_pixelshuffle, *_pooling, *_rnn, *_softmax, *_sparse, *_transformer, *_upsampling])

for _home, _classes in {"activation": [*_attention, *_softmax], "conv": _lazy_conv, "loss": _linear_cross_entropy,
                        "container": _parameter_container, "rnn": _rnn_cell}.items():
    _settle(f"{__name__}.{_home}", *[globals()[_name] for _name in _classes])
_give_own([globals()[_name] for _name in __all__])
_annotate([globals()[_name] for _name in __all__])
