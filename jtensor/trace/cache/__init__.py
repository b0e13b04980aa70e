"""What is kept across processes: programs, what operations give, code that was written out; and its loading ahead of need.

Imports of its siblings nothing but descriptions (`trace.spec`).
"""
