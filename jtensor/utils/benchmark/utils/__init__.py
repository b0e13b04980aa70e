"""The parts of `torch.utils.benchmark`, where PyTorch has them."""
