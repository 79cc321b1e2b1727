"""Lowering of tile programs to LLVM IR: concrete IR in, one function that runs a range of programs out.

The order in which to read it:

- `forms`: what a tile is at a point of a loop nest. `evaluate`: from operations to forms. `analysis`: forms all over a
  domain, with the accesses and bounds of a nest. `point`: lanes at one point.
- `nest`: loops, the vector axis, the fast and the general version. `store`, `reduce` (with `row`, `combine`, `varies`),
  `dot` (with `pack`, `scheme`, `strided`), `transpose`: the nests.
- `plan` (with `structure`, `shifts`): what is kept in buffers. `alias`, `stream`: tests made when a store starts.
- `blocks`, `carry`: program order, control flow. `strides`, `depth`, `entry`: the function as a whole.
"""
