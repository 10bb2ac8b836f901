"""Finding the code object in what a program hands over; damaged images are refused, never followed."""

import contextlib
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipgemm.simulated_hip.image import ImageError, NoCodeForCard, bytes_reader, code_object, is_mapped

sys.path.insert(0, str(Path(__file__).parent))
from small_card import bundle, elf


def test_elf_as_it_is() -> None:
    image = elf(payload=b"code")
    assert code_object(bytes_reader(image + b"what follows it in memory"), "gfx1100") == image


@pytest.mark.parametrize("target", ["hip-amdgcn-amd-amdhsa--gfx1100", "hipv4-amdgcn-amd-amdhsa-x--gfx1100:xnack-"])
def test_bundle(target: str) -> None:
    image = bundle(("host-x86_64-unknown-linux-gnu-", b""), (target, elf(payload=b"x")))
    assert code_object(bytes_reader(image), "gfx1100") == elf(payload=b"x")


def test_bundle_without_the_target_names_what_it_holds() -> None:
    image = bundle(("hipv4-amdgcn-amd-amdhsa--gfx90a", elf(0x3F)))
    with pytest.raises(NoCodeForCard, match="gfx90a"):
        code_object(bytes_reader(image), "gfx1100")


@given(st.data())
def test_damaged_images_are_refused_or_read(data: st.DataObject) -> None:
    good = bundle(("hipv4-amdgcn-amd-amdhsa--gfx1100", elf(payload=bytes(40))))
    image = bytearray(good[: data.draw(st.integers(0, len(good)))])
    for _ in range(data.draw(st.integers(0, 4))):
        if image:
            image[data.draw(st.integers(0, len(image) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ImageError):
        assert code_object(bytes_reader(bytes(image)), "gfx1100")[:4] == b"\x7fELF"


def test_holes_in_memory_are_seen() -> None:
    assert not is_mapped(8, 8)
    assert not is_mapped(0, 1)
    assert not is_mapped((1 << 64) - 8, 16)
    assert is_mapped(id(object), 8)
