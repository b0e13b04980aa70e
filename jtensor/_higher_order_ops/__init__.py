"""PyTorch's functions of functions for its compiler, as far as libraries call them without one.

    associative_scan.py   running results of an operation of two
"""
