"""The workbench: a kernel's text -> what the page of `hipgemm explore` shows of it.

    view      text -> instructions with their source lines, findings, live registers, waits, and the kernel's numbers
    stepping  a launch -> registers and memory of a wave before each instruction
    server    these as answers to the page, on 127.0.0.1 alone
    static/   the page: HTML, a style sheet, a script, and the editor (CodeMirror 6, with its licence)

Everything that is shown, a verb knows: nothing is computed here that lint, inspect, time or the reference engine does
not.
"""
