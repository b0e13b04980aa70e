"""What JAX's primitives are in the eyes of a compiler that simplifies: kinds of arithmetic, as bits, and moves.

A primitive that stands nowhere here counts as one across which nothing is rewritten, so a new one of JAX's has to be classified.
May not know: equations, where fences stand.
"""

# -- arithmetic, as bits ----------------------------------------------------------------------------------------------

MUL, ADD, DIV, SQRT, TRANSCENDENTAL, SUM, PRODUCT, EXTREME, CONVERT, OTHER, PLAIN, CONSTANT, FOLDED, TURNED = (
    1 << n for n in range(14))
"""`PLAIN`: exact, and never rewritten. `CONSTANT`: known when compiled. `FOLDED`: one of the operands is. `TURNED`: transposed."""

_KINDS = {
    MUL: "mul integer_pow square", ADD: "add sub add_any", DIV: "div", SQRT: "sqrt",
    TRANSCENDENTAL: """exp exp2 log log1p expm1 pow rsqrt cbrt logistic tanh sin cos tan sinh cosh asin acos atan atan2 asinh
        acosh atanh erf erfc erf_inv lgamma digamma igamma igammac""",
    SUM: "reduce_sum scatter-add scatter_add cumsum cumlogsumexp reduce_window_sum select_and_scatter_add", PRODUCT: "reduce_prod",
    MUL | PRODUCT: "cumprod", EXTREME: "reduce_max reduce_min argmax argmin cummax cummin reduce_window_max reduce_window_min",
    CONVERT: "convert_element_type", PLAIN: "max min abs sign floor ceil round clamp nextafter",
    OTHER: "while scan cond scatter-mul scatter_mul rem reduce reduce_window",
}
KINDS = {name: kind for kind, names in _KINDS.items() for name in names.split()}
MATRIX_PRODUCTS = "dot_general", "conv_general_dilated"
EXTREMES = "reduce_max", "reduce_min"

# -- moves ------------------------------------------------------------------------------------------------------------

MOVES = frozenset("""broadcast_in_dim reshape transpose squeeze slice concatenate select_n expand_dims rev dynamic_slice
    dynamic_update_slice gather scatter pad copy copy_p neg split operator_result barrier optimization_barrier real imag complex conj
    reduce_precision stop_gradient sort""".split())
"""Equations through which the simplifier and LLVM see."""

ELEMENTWISE_MOVES = frozenset("""select_n neg copy copy_p operator_result barrier optimization_barrier real imag complex conj
    reduce_precision""".split())

ELEMENTWISE = frozenset(" ".join(_KINDS[kind] for kind in (MUL, ADD, DIV, SQRT, TRANSCENDENTAL, CONVERT, PLAIN)).split()) | {
    "is_finite", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not"}

CARRIED = ELEMENTWISE | {"select_n", "neg", "copy", "copy_p", "operator_result"}
"""What is the same element by element, whatever stands beside: so it is on the whole array, and in another order of axes."""
