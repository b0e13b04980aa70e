"""`torch.onnx.symbolic_opset11`: the functions that write operators as ONNX. Nothing is written, so that there are none; to be imported."""
