"""The study of the order of dual FMAs, which docs/order.md shows; `python tools/order.py` is its command.

order.py      the order of a thread tile, or of a kernel's main loop
cost.py       what an order costs, counted from its instructions, and what no order can go below
odd_tiles.py  an order for tiles with an odd side, which no generated kernel has
compiled.py   the main loops of kernels 6 to 8, which passes make of a compiler's, once more from the generator
table.py      what was found, for a terminal
"""
