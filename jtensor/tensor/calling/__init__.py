"""From a call to an operator's arguments: which PyTorch takes, in which words it refuses others, classes that are asked first."""
