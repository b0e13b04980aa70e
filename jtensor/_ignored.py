"""Which of PyTorch's functions no class answers for, by the names that they have here.

Owns: the table. May not know: how a function asks.
"""
import functools

import jtensor

NAMES = {
    "": """
        arange are_deterministic_algorithms_enabled as_strided as_tensor asarray autocast_decrement_nesting
        autocast_increment_nesting bartlett_window blackman_window broadcast_shapes can_cast clear_autocast_cache compile cond
        default_generator device dtype empty empty_permuted empty_strided enable_grad eye fill finfo fork from_file from_numpy
        frombuffer full get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_autocast_ipu_dtype
        get_autocast_xla_dtype get_default_device get_default_dtype get_deterministic_debug_mode get_device_module
        get_float32_matmul_precision get_num_interop_threads get_num_threads get_rng_state hamming_window hann_window iinfo
        inference_mode initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_cache_enabled
        is_autocast_cpu_enabled is_autocast_enabled is_autocast_ipu_enabled is_autocast_xla_enabled
        is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled is_storage is_tensor
        is_warn_always_enabled kaiser_window layout linspace load logspace manual_seed memory_format no_grad normal ones
        parse_schema promote_types rand rand_like randint randint_like randn randn_like randperm range result_type save
        scalar_tensor seed set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled
        set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled
        set_autocast_xla_dtype set_autocast_xla_enabled set_default_device set_default_tensor_type set_deterministic_debug_mode
        set_float32_matmul_precision set_flush_denormal set_grad_enabled set_num_interop_threads set_num_threads set_printoptions
        set_rng_state set_warn_always sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor
        sparse_csc_tensor sparse_csr_tensor sym_constrain_range sym_constrain_range_for_size sym_fresh_size tensor
        thread_safe_generator tril_indices triu_indices typename use_deterministic_algorithms vander vmap wait zeros""",
    "Tensor": """
        __delattr__ __delitem__ __dir__ __getattribute__ __hash__ __init__ __iter__ __new__ __setattr__ _make_subclass
        _make_wrapper_subclass as_subclass eig lstsq new new_empty new_empty_strided new_full new_ones new_tensor new_zeros
        reinforce solve stride symeig to_padded_tensor to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr
        unflatten""",
    "nn.init": """
        calculate_gain constant dirac eye kaiming_normal kaiming_uniform normal orthogonal sparse uniform xavier_normal
        xavier_uniform""",
    "nn.functional": """
        _canonical_mask _none_or_dtype boolean_dispatch grouped_mm handle_torch_function hardsigmoid hardswish has_torch_function
        has_torch_function_unary has_torch_function_variadic scaled_grouped_mm scaled_mm sigmoid tanh upsample upsample_bilinear
        upsample_nearest""",
    "fft": """
        fftfreq rfftfreq""",
}
"""{where they are: their names}: those that make tensors of nothing, settings, and what Python does with any object."""


def functions():
    """The functions themselves; ``True`` and ``False`` are among them in PyTorch."""
    found = {True, False, jtensor.Tensor.__torch_function__}
    for home, names in NAMES.items():
        place = functools.reduce(getattr, home.split("."), jtensor) if home else jtensor
        found |= {getattr(place, name) for name in names.split()}
    return found
