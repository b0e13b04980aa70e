"""Operators, one declaration each (`families/`), and what is worked out from a declaration for given inputs: a plan (`build`), what its
node saves (`saves`), the plan of its backward (`gradient`)."""
