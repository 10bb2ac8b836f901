"""AMD's pseudocode of its instructions, executed: an oracle that shares nothing with this project's descriptions.

    texts      what the vendor says, by instruction
    syntax     text -> tree
    floats     f16, bf16, f32 and f64 as exact numbers, and their rounding
    values     typed bits and their arithmetic
    functions  what the texts call (isNAN, trunc, fma, f32_to_i32 ...)
    evaluate   tree -> Python closures
    state      registers and memories
    places     what texts index: memory, register files
    operands   operands by their names in the texts
    machine    one instruction from a wave's state: the state that its text leaves
    excuses    where this project answers otherwise, and why
    ask        runs the reference engine and compares

The texts say nothing of modifiers, of MODE and of what becomes of a NaN. So plain forms are asked, in the mode that
compilers choose (to nearest even, denormals kept, IEEE), and a NaN that arithmetic makes equals any NaN of its type;
one that a text moves, or makes quiet by name, must be equal bit for bit.
"""
