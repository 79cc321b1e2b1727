"""Lowering of tile programs to LLVM IR: concrete IR in, one function that runs a range of programs out.

The order in which to read: `forms` (what a tile is at a point), `evaluate` (tile values to forms), `region` (one loop
nest: its accesses, bounds, vector axis), `nest` (the loops), `store`, `reduce`, `blocks` (control flow), `plan` (what
is kept in buffers), `alias`, `entry`.
"""
