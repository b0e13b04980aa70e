"""How operators of TorchScript are written as ONNX, a room for each family of them."""
