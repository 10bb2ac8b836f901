"""How things are said."""

from isa.display import number_of


def test_a_number_agrees_with_its_noun() -> None:
    said = [number_of(n, "fault") for n in (0, 1, 2)]
    assert said == ["0 faults", "1 fault", "2 faults"]
    assert [number_of(n, "entry", "entries") for n in (1, 3)] == ["1 entry", "3 entries"]
    assert number_of(1200, "kernel", form=",") == "1,200 kernels"
