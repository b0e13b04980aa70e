"""`SummaryWriter`: a folder of logs that TensorBoard shows.

Owns: files, steps and times. What is logged is made by `summaries`. May not know: protocol buffers but for the event around a summary.
"""
import os
import socket
import time
from datetime import datetime

from tensorboard.compat.proto import event_pb2
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from ...base.errors import missing
from . import summaries

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """Events in one file of a folder."""

    __module__ = "torch.utils.tensorboard.writer"

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self):
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event, step=None, walltime=None):
        """Writes an event, at a step and a time."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary, global_step=None, walltime=None):
        """Writes a summary."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def flush(self):
        """Writes what waits to be written."""
        self.event_writer.flush()

    def close(self):
        """Flushes, and closes the file."""
        self.event_writer.close()

    def reopen(self):
        """Opens another file after `close`."""
        self.event_writer.reopen()


class SummaryWriter:
    """Writes numbers, histograms, texts, pictures and settings of a run for TensorBoard.

    Without ``log_dir`` they go to ``runs/`` and a name of the time, the machine and ``comment``. ``purge_step``: a run that starts again
    there hides what an earlier one has logged from that step on. Looks at every tensor that it is given.
    """

    __module__ = "torch.utils.tensorboard.writer"

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not log_dir:
            log_dir = os.path.join("runs", datetime.now().strftime("%b%d_%H-%M-%S") + "_" + socket.gethostname() + comment)
        self.log_dir, self.purge_step = log_dir, purge_step
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix
        self.file_writer = self.all_writers = None
        self._get_file_writer()
        self.default_bins = summaries.tensorflow_bins()

    def _get_file_writer(self):
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                step, self.purge_step = self.purge_step, None
                self.file_writer.add_event(Event(step=step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(step=step, session_log=SessionLog(status=SessionLog.START)))
        return self.file_writer

    def _add(self, summary, global_step=None, walltime=None):
        self._get_file_writer().add_summary(summary, global_step, walltime)

    def get_logdir(self):
        """The folder of the logs."""
        return self.log_dir

    # -- what is logged ---------------------------------------------------------------------------------------------

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        """Logs a number."""
        self._add(summaries.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Logs several numbers that are shown in one chart: each has a folder of its own."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            place = folder + "/" + main_tag.replace("/", "_") + "_" + tag
            if place not in self.all_writers:
                self.all_writers[place] = FileWriter(place, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers[place].add_summary(summaries.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag, tensor, global_step=None, walltime=None):
        """Logs the numbers of a tensor."""
        self._add(summaries.tensor(tag, tensor), global_step, walltime)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        """Logs how numbers are distributed; ``bins`` is "tensorflow" or what NumPy takes."""
        bins = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(self, tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts, global_step=None, walltime=None):
        """Logs a histogram that has been counted already."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        self._add(summaries.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts), global_step, walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """Logs a text, in Markdown."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """Logs a picture of bytes, or of floats from 0 to 1. Needs Pillow."""
        self._add(summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """Logs several pictures as one."""
        self._add(summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """Logs a figure of Matplotlib, or a list of them."""
        self.add_image(tag, summaries.pictures_of(figure, close), global_step, walltime, "NCHW" if isinstance(figure, list) else "CHW")

    def add_audio(self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None):
        """Logs a sound from -1 to 1."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_pr_curve(self, tag, labels, predictions, global_step=None, num_thresholds=127, weights=None, walltime=None):
        """Logs precision against recall of a classifier of two classes."""
        self._add(summaries.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step, walltime)

    def add_custom_scalars(self, layout):
        """Says which numbers are shown in one chart: ``{category: {title: ["Multiline" or "Margin", tags]}}``."""
        self._add(summaries.custom_scalars(layout))

    def add_custom_scalars_multilinechart(self, tags, category="default", title="untitled"):
        """Shows numbers as lines of one chart."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags, category="default", title="untitled"):
        """Shows three numbers as a line and the margin around it."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """Logs the settings of a run, and the numbers that say how good it was, in a folder of their own."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        made = summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for summary in made:
                writer._add(summary)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_embedding(self, mat, metadata=None, label_img=None, global_step=None, tag="default", metadata_header=None):
        """Writes vectors for the projector, and a label for each."""
        if label_img is not None:
            raise missing("pictures of embeddings", "add_embedding without label_img")
        vectors, step = summaries.array(mat), 0 if global_step is None else global_step
        folder = f"{str(step).zfill(5)}/{tag}"
        place = os.path.join(self._get_file_writer().get_logdir(), folder)
        os.makedirs(place, exist_ok=True)
        lines = [f'tensor_name: "{tag}:{str(step).zfill(5)}"']
        if metadata is not None:
            if len(metadata) != vectors.shape[0]:
                raise AssertionError("#labels should equal with #data points")
            rows = metadata if not metadata_header else [metadata_header, *metadata]
            with open(os.path.join(place, "metadata.tsv"), "w", encoding="utf-8") as out:
                out.writelines("\t".join(map(str, row)) + "\n" if metadata_header else f"{row}\n" for row in rows)
            lines.append(f'metadata_path: "{folder}/metadata.tsv"')
        if vectors.ndim != 2:
            raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
        with open(os.path.join(place, "tensors.tsv"), "w", encoding="utf-8") as out:
            out.writelines("\t".join(map(str, row)) + "\n" for row in vectors.tolist())
        lines.append(f'tensor_path: "{folder}/tensors.tsv"')
        with open(os.path.join(self.log_dir, "projector_config.pbtxt"), "a", encoding="utf-8") as out:
            out.write("embeddings {\n" + "".join(f"  {line}\n" for line in lines) + "}\n")

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """Refuses: a picture of TorchScript's graph."""
        raise missing("graphs of TorchScript for TensorBoard", "print(model), and jtensor.report() for what is compiled")

    def add_video(self, tag, vid_tensor, global_step=None, fps=4, walltime=None):
        """Refuses: videos."""
        raise missing("videos for TensorBoard", "add_images of the frames")

    def add_image_with_boxes(self, tag, img_tensor, box_tensor, global_step=None, walltime=None, rescale=1, dataformats="CHW", labels=None):
        """Refuses: pictures with boxes drawn on them."""
        raise missing("boxes on pictures for TensorBoard", "add_figure of a plot with them")

    def add_mesh(self, tag, vertices, colors=None, faces=None, config_dict=None, global_step=None, walltime=None):
        """Refuses: meshes."""
        raise missing("meshes for TensorBoard", "add_figure of a plot of them")

    # -- the end ----------------------------------------------------------------------------------------------------

    def flush(self):
        """Writes what waits to be written."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self):
        """Flushes, and closes all files; another call opens new ones."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
