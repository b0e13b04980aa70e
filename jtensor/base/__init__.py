"""What knows nothing of tensors: types, devices, errors, call sites, switches."""
