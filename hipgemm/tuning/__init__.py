"""Tuning: shapes -> a table of generated kernels, searched once and looked up at each call.

    shapes file --space, bounds--> candidates --search, trial--> table.json --choose--> sgemm, `hipgemm explain`

shapes.py    M, N, K and the transposition, and the text files that list them
space.py     every kernel that `isa.gemm.vector.parameters.Parameters` accepts from a grid of values
bounds.py    how long a kernel takes at least, from its parameters alone
matrix_field.py  both for kernels of the matrix units
from_text.py the model's estimate of a kernel that is generated and not built
trial.py     one candidate at one shape, on the cycle model or on a card: what a worker does
pool.py      workers: processes of this machine, or dask.distributed on many
journal.py   every result, on disk the moment it is known
search.py    bounds, then the model's estimate of hundreds, then its ensemble for the best few
table.py     the table: JSON, its format and provenance
choose.py    the nearest tuned shape, and why
"""
