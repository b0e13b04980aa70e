"""`torch.utils.benchmark`: how long a statement takes, measured with care, and told with as many figures as the measurement bears."""
from .utils.common import Measurement as Measurement
from .utils.common import TaskSpec as TaskSpec
from .utils.common import ordered_unique as ordered_unique
from .utils.common import select_unit as select_unit
from .utils.common import set_torch_threads as set_torch_threads
from .utils.common import trim_sigfig as trim_sigfig
from .utils.common import unit_to_english as unit_to_english
from .utils.compare import Compare as Compare
from .utils.fuzzer import FuzzedParameter as FuzzedParameter
from .utils.fuzzer import FuzzedTensor as FuzzedTensor
from .utils.fuzzer import Fuzzer as Fuzzer
from .utils.fuzzer import ParameterAlias as ParameterAlias
from .utils.timer import Language as Language
from .utils.timer import Timer as Timer
from .utils.timer import timer as timer
