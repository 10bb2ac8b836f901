"""What people read in terminals of 20 to 200 columns: nothing is cut off, and lines are broken between words."""

import os
import pty
import re
import struct
import sys
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipgemm.report.terminal import console, filled, grid, labelled, wide

fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")
WIDTHS = st.integers(20, 200)
WORD = st.text("abc/.:-", min_size=1, max_size=30)
LINE = st.builds(lambda indent, words: " " * indent + " ".join(words), st.integers(0, 8), st.lists(WORD, min_size=1))


@given(st.lists(LINE).map("\n".join), WIDTHS)
def test_sentences_keep_their_words_and_only_a_word_is_longer_than_the_terminal(text: str, width: int) -> None:
    found = filled(text, width)
    assert found.split() == text.split()
    for line in found.split("\n"):
        assert len(line) <= width or len(line.split()) == 1
        assert line.strip() or not text.strip() or "" in text.split("\n")


@pytest.mark.parametrize("line", ["  v_add_f32     v0, v1, v2, v3    12 %", "kernel    what    mode"])
def test_lines_in_columns_stay_whole(line: str) -> None:
    assert filled(line, 20) == line


@given(st.dictionaries(WORD, LINE, min_size=1), WIDTHS)
def test_labels_keep_what_is_said_of_them(rows: dict[str, str], width: int) -> None:
    pairs = [*rows.items()]
    assert labelled(pairs, width).split() == labelled(pairs, None).split()
    assert all(len(line) <= width or len(line.split()) <= 2 for line in labelled(pairs, width).split("\n"))


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_table_is_printed_cell_by_cell_where_it_has_no_room(width: int) -> None:
    cells = ("kernel8", "batched loads of global memory", "128, 128, 8", "49047")
    table = grid("<kernel", "<what", "<multiples of", ">GFLOP/s", caption="published")
    table.add_row(*cells)
    out = StringIO()
    console(file=out, width=width, color_system=None).print(table)
    found = out.getvalue()
    assert all(word in found for cell in (*cells, "published") for word in cell.split())
    assert ("kernel: kernel8\nwhat: batched" in found) == (width < 80)
    out = StringIO()
    wide(120, file=out).print(table)
    assert "kernel: kernel8" not in out.getvalue()  # which no terminal is


def in_a_terminal(width: int, *words: str) -> str:
    """What `hipgemm WORDS` prints in one."""
    child, end = pty.fork()
    if not child:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        there = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        os.execve(sys.executable, [sys.executable, "-m", "hipgemm", *words], there)
    pieces = []
    while True:
        try:
            piece = os.read(end, 65536)
        except OSError:  # the end, on Linux
            piece = b""
        if not piece:
            break
        pieces.append(piece)
    os.waitpid(child, 0)
    os.close(end)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", b"".join(pieces).decode()).replace("\r\n", "\n")


@pytest.mark.parametrize("width", [20, 200])
@pytest.mark.parametrize("words", ["lint --rules", "lint --help", "list", "lint nothing.s", "schema"])
def test_a_verb_in_a_terminal(words: str, width: int) -> None:
    found = in_a_terminal(width, *words.split())
    assert max(len(line) for line in found.split("\n") if len(line.split()) > 2) <= max(width, 40)  # click's options
    assert max(map(len, found.split("\n"))) > width / 3
