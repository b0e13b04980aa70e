"""What is logged, as TensorBoard's protocol buffers: numbers, histograms, texts, pictures, sounds, curves.

Owns: their form. Values come as tensors, arrays or numbers. May not know: files.
"""
import io
import wave

import numpy as np
from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

from ...tensor.core import Tensor


def array(given):
    """Anything that can be logged as an array of NumPy's."""
    if isinstance(given, list):
        return np.array(given)
    if isinstance(given, np.ndarray):
        return given
    if np.isscalar(given):
        return np.array([given])
    if isinstance(given, Tensor):
        given = given.detach().cpu()
        return (given.float() if given.dtype.itemsize == 2 and given.dtype.is_floating_point else given).numpy()
    raise NotImplementedError(f"Got {type(given)}, but numpy array or torch tensor are expected.")


def _tensor(values, dtype, shape=None, plugin=None, content=b"", tag="", field="float_val"):
    proto = TensorProto(dtype=dtype, **{field: values})
    if shape is not None:
        proto.tensor_shape.CopyFrom(TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in shape]))
    marks = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=content))
    return Summary(value=[Summary.Value(tag=tag, metadata=marks, tensor=proto)])


# -- numbers ----------------------------------------------------------------------------------------------------------

def scalar(tag, given, new_style=False, double_precision=False):
    """One number, in the older form or as a tensor."""
    number = array(given).squeeze()
    if number.ndim:
        raise AssertionError("Tensor should contain one element (0 dimensions).             "
                             f"Was given size: {number.size} and {number.ndim} dimensions.")
    number = float(number)
    if new_style:
        kind, field = ("DT_DOUBLE", "double_val") if double_precision else ("DT_FLOAT", "float_val")
        return _tensor([number], kind, None, "scalars", tag=tag, field=field)
    return Summary(value=[Summary.Value(tag=tag, simple_value=number)])


def tensor(tag, given):
    """The numbers of a tensor."""
    values = array(given)
    kind, field = ("DT_DOUBLE", "double_val") if values.dtype == np.float64 else ("DT_FLOAT", "float_val") if (
        values.dtype.kind == "f") else ("DT_INT64", "int64_val")
    return _tensor(values.reshape(-1).tolist(), kind, values.shape, "tensor", tag=tag, field=field)


def text(tag, given):
    """A text, in Markdown."""
    return _tensor([given.encode("utf_8")], "DT_STRING", (1,), "text", tag=tag + "/text_summary", field="string_val")


# -- histograms -------------------------------------------------------------------------------------------------------

def tensorflow_bins():
    """Edges whose size grows by a tenth from one to the next, on both sides of 0."""
    edges = []
    edge = 1e-12
    while edge < 1e20:
        edges.append(edge)
        edge *= 1.1
    return [-edge for edge in reversed(edges)] + [0] + edges


def histogram(tag, given, bins, max_bins=None):
    """How the numbers are distributed: bins without any at either end are left out, but for one before the first."""
    values = array(given).astype(float).reshape(-1)
    if not values.size:
        raise ValueError("The input has no element.")
    counts, edges = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        together = len(counts) // max_bins
        lacking = -len(counts) % together
        counts = np.pad(counts, (0, lacking)).reshape(-1, together).sum(-1)
        edges = np.append(edges[:-1:together], edges[-1])
    full = np.flatnonzero(counts)
    if not full.size:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, end = full[0], full[-1] + 1
    before = counts[first - 1:first] if first else [0]
    return histogram_raw(tag, values.min(), values.max(), len(values), values.sum(), values.dot(values), edges[first:end + 1].tolist(),
                         [*before, *counts[first:end]])


def histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts):
    """A histogram that has been counted already."""
    made = HistogramProto(min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=bucket_limits, bucket=bucket_counts)
    return Summary(value=[Summary.Value(tag=tag, histo=made)])


# -- pictures and sounds ----------------------------------------------------------------------------------------------

def _as_picture(values, order):
    """Height, width and three colours, of any order of dimensions; several pictures go beside each other, eight in a row."""
    order = order.upper()
    if len(set(order)) != len(order):
        raise AssertionError(f"You can not use the same dimension shordhand twice.         input_format: {order}")
    if len(order) != values.ndim:
        raise AssertionError("size of input tensor and input format are different.         "
                             f"tensor shape: {values.shape}, input_format: {order}")
    if len(order) == 4:
        pictures = np.transpose(values, [order.index(d) for d in "NCHW"])
        n, colours, height, width = pictures.shape
        pictures = np.repeat(pictures, 3, 1) if colours == 1 else pictures
        columns = min(n, 8)
        rows = -(-n // columns)
        grid = np.zeros((3, height * rows, width * columns))
        for at, picture in enumerate(pictures):
            row, column = divmod(at, columns)
            grid[:, row * height:(row + 1) * height, column * width:(column + 1) * width] = picture
        return grid.transpose(1, 2, 0)
    if len(order) == 3:
        picture = np.transpose(values, [order.index(d) for d in "HWC"])
        return np.concatenate([picture] * 3, 2) if picture.shape[2] == 1 else picture
    picture = np.transpose(values, [order.index(d) for d in "HW"])
    return np.stack([picture] * 3, 2)


def image(tag, given, dataformats="CHW"):
    """A picture of bytes, or of floats from 0 to 1."""
    from PIL import Image
    values = array(given)
    factor = 1 if values.dtype == np.uint8 else 255
    values = (_as_picture(values, dataformats).astype(np.float32) * factor).clip(0, 255).astype(np.uint8)
    height, width, colours = values.shape
    written = io.BytesIO()
    Image.fromarray(values).save(written, format="PNG")
    made = Summary.Image(height=height, width=width, colorspace=colours, encoded_image_string=written.getvalue())
    return Summary(value=[Summary.Value(tag=tag, image=made)])


def pictures_of(figures, close):
    """Figures of Matplotlib as an array: colours, height, width; of several, one picture each."""
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def drawn(figure):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba(), np.uint8)[:, :, :3].transpose(2, 0, 1)
        if close:
            pyplot.close(figure)
        return pixels
    return np.stack([drawn(figure) for figure in figures]) if isinstance(figures, list) else drawn(figures)


def audio(tag, given, sample_rate=44100):
    """A sound from -1 to 1, of one channel."""
    values = array(given).squeeze()
    if abs(values).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        values = values.clip(-1, 1)
    if values.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    written = io.BytesIO()
    with wave.open(written, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(sample_rate)
        out.writeframes((values * np.iinfo(np.int16).max).astype("<i2").tobytes())
    made = Summary.Audio(sample_rate=sample_rate, num_channels=1, length_frames=len(values), encoded_audio_string=written.getvalue(),
                         content_type="audio/wav")
    return Summary(value=[Summary.Value(tag=tag, audio=made)])


# -- curves, settings -------------------------------------------------------------------------------------------------

def pr_curve(tag, labels, predictions, thresholds=127, weights=None):
    """How precise a classifier is, and how much it finds, for evenly spaced thresholds."""
    thresholds = min(thresholds, 127)
    labels, predictions = array(labels), array(predictions)
    weights = 1.0 if weights is None else weights
    at = np.int32(np.floor(predictions * (thresholds - 1)))
    span = {"bins": thresholds, "range": (0, thresholds - 1)}
    right = np.histogram(at, weights=labels.astype(float) * weights, **span)[0][::-1].cumsum()[::-1]
    wrong = np.histogram(at, weights=(1.0 - labels) * weights, **span)[0][::-1].cumsum()[::-1]
    least = 1e-7
    precision = right / np.maximum(least, right + wrong)
    recall = right / np.maximum(least, right[0])
    curve = np.stack((right, wrong, wrong[0] - wrong, right[0] - right, precision, recall))
    content = PrCurvePluginData(version=0, num_thresholds=thresholds).SerializeToString()
    return _tensor(curve.reshape(-1).tolist(), "DT_FLOAT", curve.shape, "pr_curves", content, tag)


def custom_scalars(layout):
    """Which numbers are shown in one chart: ``{category: {title: [kind, tags]}}``."""
    categories = []
    for name, charts in layout.items():
        made = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError(f"len(tags) != 3, got: {len(tags)}")
                content = layout_pb2.MarginChartContent(series=[
                    layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])])
                made.append(layout_pb2.Chart(title=title, margin=content))
            else:
                made.append(layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags)))
        categories.append(layout_pb2.Category(title=name, chart=made))
    content = layout_pb2.Layout(category=categories).SerializeToString()
    return _tensor([content], "DT_STRING", (), "custom_scalars", tag="custom_scalars__config__", field="string_val")


def hparams(given, metrics, domains=None):
    """(experiment, start, end): the settings of a run, and which numbers tell how good it was."""
    for what in (given, metrics):
        if not isinstance(what, dict):
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
    start, infos = plugin_data_pb2.SessionStartInfo(), []
    for name, value in given.items():
        if value is None:
            continue
        info = api_pb2.HParamInfo(name=name)
        if isinstance(value, (int, float)):                      # a truth value, too, is a number there
            start.hparams[name].number_value, info.type = value, api_pb2.DataType.Value("DATA_TYPE_FLOAT64")
        elif isinstance(value, str):
            start.hparams[name].string_value, info.type = value, api_pb2.DataType.Value("DATA_TYPE_STRING")
        elif isinstance(value, Tensor):
            start.hparams[name].number_value, info.type = array(value)[()], api_pb2.DataType.Value("DATA_TYPE_FLOAT64")
        else:
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        if domains and name in domains:
            info.domain_discrete.CopyFrom(struct_pb2.ListValue())
            info.domain_discrete.extend(domains[name])
        infos.append(info)
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=[
        api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metrics])
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))

    def packed(tag, **content):
        data = plugin_data_pb2.HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **content).SerializeToString()
        marks = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=metadata.PLUGIN_NAME, content=data))
        return Summary(value=[Summary.Value(tag=tag, metadata=marks)])
    return (packed(metadata.EXPERIMENT_TAG, experiment=experiment), packed(metadata.SESSION_START_INFO_TAG, session_start_info=start),
            packed(metadata.SESSION_END_INFO_TAG, session_end_info=end))
