"""`torch.backends.quantized`: engines for quantised tensors, of which there are none."""
engine = "none"
supported_engines = ["none"]
