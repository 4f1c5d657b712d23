"""The kinds of design, one module each: how its keys are read and how it is built.

A kind is a module with ``read(section, promise) -> Request``: it takes its own keys from the
design's section and returns a value whose ``build`` does the work. :mod:`precompute.design_config`
holds the table of kinds.
"""
