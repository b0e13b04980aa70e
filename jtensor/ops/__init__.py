"""Operators: one declaration each (`families/`), and what is worked out from a declaration for given inputs (`build`, `saves`, `gradient`)."""
