"""Every byte that crosses a boundary is specified and encoded here, once.

The bottom layer: it imports nothing else of the project, does no network I/O, and is the only
part of ``agent`` that the workstation side may import.
"""
