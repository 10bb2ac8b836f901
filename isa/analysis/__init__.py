"""Facts about a program: Program, or a list of disassembled instructions, -> what holds at each of its instructions.

Every analysis takes a `Cfg` (`cfg.of_kernel`, `cfg.of_instructions`) and names instructions by their position in it,
so that text and disassembly are treated alike. None of them changes anything.
"""
