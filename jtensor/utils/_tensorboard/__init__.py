"""Logs for TensorBoard, in the protocol buffers of the package ``tensorboard``."""
