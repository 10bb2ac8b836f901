"""The search itself on a shape that the model plays fast: bounds, journal, resuming, Ctrl-C, cards, dask."""

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from verbs import Run, invoked

from hipgemm.pool import pool
from hipgemm.tuning import search, space, table, trial
from hipgemm.tuning.choose import choose
from hipgemm.tuning.journal import Journal
from hipgemm.tuning.shapes import Shape
from hipgemm.tuning.trial import Job, TrialOutcome, TrialTarget
from isa import toolchain
from isa.errors import IsaError

pytestmark = pytest.mark.skipif(not list(toolchain.available()), reason="no assembler for gfx11 here")

TARGET = TrialTarget("7900 XTX", 2500)
SHAPE = Shape(96, 64, 40)


@pytest.fixture(autouse=True, scope="module")
def few_kernels() -> Iterator[None]:
    """A space of some dozens of kernels, of which a search has as much to say as of thousands (test_space.py)."""
    few = {"rows": (32, 64, 96), "columns": (32, 64), "depth": (8,), "group": (1, 2)}
    with pytest.MonkeyPatch.context() as change:
        change.setattr(space, "VALUES", {**space.VALUES, **few})
        space.kernels.cache_clear()
        yield
    space.kernels.cache_clear()


def tune(folder: Path, *arguments: str, shapes: str = "96 64 40 # small\n", code: int = 0) -> Result:
    (folder / "shapes.txt").write_text(shapes)
    given = ["--shapes", str(folder / "shapes.txt"), "-o", str(folder / "t.json"), "--jobs", "1", *arguments]
    done = invoked(["tune", *given], code=code)
    return done


def test_a_search_writes_a_table_and_finds_everything_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = tune(tmp_path, "--candidates", "5")
    held = table.load(tmp_path / "t.json")
    (entry,) = held.entries
    assert entry.shape == SHAPE
    assert entry.shape.label == "small"
    assert (entry.on, entry.kind, entry.clock_mhz) == ("7900 XTX", "predicted", 2500)
    assert 1 <= len(entry.kernels) <= 4
    assert entry.kernels[0].kernel in done.stdout
    assert "TFLOP/s" in done.stdout
    # Again: nothing is asked of the model, and the table is the same to the byte.
    before = (tmp_path / "t.json").read_bytes()
    monkeypatch.setattr(trial, "run", lambda job: pytest.fail("asked again"))
    tune(tmp_path, "--candidates", "5")
    assert (tmp_path / "t.json").read_bytes() == before


def test_neighbours_found_meanwhile_do_not_change_what_the_same_command_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = "96 64 40\n128 64 40\n96 64 40 nt\n"
    monkeypatch.setattr(
        trial, "run", lambda job: [TrialOutcome(job.kernels[0], *[1 + len(job.kernels[0]) / job.shape.m] * 3)]
    )
    tune(tmp_path, "--candidates", "5", shapes=shapes)
    before = (tmp_path / "t.json").read_bytes()
    tune(tmp_path, "--candidates", "5", shapes=shapes)
    assert (tmp_path / "t.json").read_bytes() == before


def test_another_shape_joins_the_table(tmp_path: Path) -> None:
    tune(tmp_path, "--candidates", "1")
    found = json.loads(tune(tmp_path, "--candidates", "1", "--json", shapes="64 32 16 nt").stdout)
    assert found["shape"] == [64, 32, 16, "nt"]
    assert found["kernels"][0]["kernel"].endswith("_nt")
    assert len(table.load(tmp_path / "t.json").entries) == 2


def test_ctrl_c_keeps_what_is_known_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = trial.run, []

    def run(job: Job) -> list[TrialOutcome]:
        asked.append(job)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return real(job)

    monkeypatch.setattr(trial, "run", run)
    stopped = tune(tmp_path, "--candidates", "5", code=130)
    assert "2 results are in" in stopped.stderr
    assert not (tmp_path / "t.json").exists()
    lines = (tmp_path / "t.json.journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["key"][0] for line in lines] == [job.kernels[0] for job in asked[:2]]
    known = asked[:2]
    asked[:] = [known[0]] * 3
    tune(tmp_path, "--candidates", "5")
    assert not set(asked[3:]) & set(known)
    (entry,) = table.load(tmp_path / "t.json").entries
    monkeypatch.setattr(trial, "run", real)
    (tmp_path / "whole").mkdir()
    tune(tmp_path / "whole", "--candidates", "5")
    assert table.load(tmp_path / "whole" / "t.json").entries == (entry,)


def test_a_torn_line_is_dropped_and_said_and_a_damaged_one_is_shown(tmp_path: Path) -> None:
    file, said = tmp_path / "j.jsonl", []
    with Journal(file, "me", said.append) as log:
        log.add(TrialOutcome("k1", 1.5), SHAPE, "estimate", TARGET)
        log.add(TrialOutcome("k2", None, why="no"), SHAPE, "estimate", TARGET)
    whole = file.read_bytes()
    for cut in range(len(whole) - 40, len(whole)):
        file.write_bytes(whole[:cut])
        said.clear()
        with Journal(file, "me", said.append) as log:
            assert log.find("k1", SHAPE, "estimate", TARGET) == TrialOutcome("k1", 1.5)
            assert log.find("k2", SHAPE, "estimate", TARGET) is None
            assert len(said) == 1
            assert "incomplete" in said[0]
            log.add(TrialOutcome("k3", 2.5), SHAPE, "estimate", TARGET)
        with Journal(file, "me", said.append) as log:
            assert log.held == 2
            assert log.find("k1", SHAPE, "full", TARGET) is None
            assert log.find("k1", SHAPE, "estimate", TrialTarget("7900 XTX", 2400)) is None
    with Journal(file, "another", said.append) as log:
        assert log.held == 0
        assert "2 results of another" in said[-1]
        with pytest.raises(IsaError, match="another search"):
            Journal(file, "me", said.append)
    file.write_bytes(b'{"key": 1}\n' + whole)
    with pytest.raises(IsaError, match=r"j\.jsonl:1:1"):
        Journal(file, "me", said.append)


def test_what_cannot_be_taken_is_said(tmp_path: Path) -> None:
    assert "No such file" in invoked(["tune", "--shapes", "none.txt", "-o", str(tmp_path / "t.json")], code=2).stderr
    assert "this is not a valid N" in tune(tmp_path, shapes="1 x 1", code=2).stderr
    assert "contains no shape" in tune(tmp_path, shapes="# nothing", code=2).stderr
    assert "scheduler is for" in tune(tmp_path, "--scheduler", "tcp://localhost:1", code=2).stderr
    assert "no device" in tune(tmp_path, "--on", "abacus", code=2).stderr
    nothing = tune(tmp_path, "--on", "card:99", code=2)
    assert "no such card" in nothing.stderr
    assert "--on simulated" in nothing.stderr
    assert "timed" not in nothing.output, "nothing was tried"
    assert "no kernel could be timed" in tune(tmp_path, shapes="1 1 2000000000", code=2).stderr


def test_processes_find_what_one_process_finds(tmp_path: Path) -> None:
    found = []
    for jobs in (1, 2):
        (tmp_path / str(jobs)).mkdir()
        with (
            Journal(tmp_path / str(jobs) / "j.jsonl", "me", lambda _: None) as log,
            pool("local", jobs) as workers,
        ):
            found.append(search.search(SHAPE, TARGET, workers, log, lambda *_: None, 3).entry)
            assert workers.executor.submit(gc.get_threshold).result() == gc.get_threshold(), "garbage as seldom as here"
    assert found[0].kernels == found[1].kernels


def test_dask_finds_it_too(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="dask.distributed is not installed (extra dask)")
    with Journal(tmp_path / "j.jsonl", "me", lambda _: None) as log, pool("dask", 1) as workers:
        found = search.search(SHAPE, TARGET, workers, log, lambda *_: None, 2)
    assert found.entry.kernels
    assert log.held >= 2


def test_a_dask_scheduler_that_does_not_answer() -> None:
    pytest.importorskip("distributed", reason="dask.distributed is not installed (extra dask)")
    with pytest.raises(IsaError, match="no dask scheduler"), pool("dask", 1, "tcp://127.0.0.1:9"):
        pass


def test_on_a_card_kernels_take_turns_and_wrong_ones_are_left_out(tmp_path: Path, run_program: Run) -> None:
    """The small card: one kernel of three is wrong, and its clock says how long each takes."""
    (tmp_path / "shapes.txt").write_text("96 64 40 tn\n")
    run_program(
        """
from pathlib import Path
from small_card import *
from hipgemm import simulated_hip
from hipgemm.tuning import search
from hipgemm.cli import main
names = []
def timed(card, kernarg, **_):
    card.time_s = 0.001 * (1 + names.index(card.launches[-1][0]))
    gemm(card, kernarg, trans="tn")
def bad(card, kernarg, **_):
    card.time_s = 0.0001
    wrong_gemm(card, kernarg)
first = search.Field(search.Shape(96, 64, 40, "tn"), search.TrialTarget("7900 XTX", 2500)).next(3, {})
names += [c.kernel for c in first]
card = SmallCard(bodies={names[2]: bad, names[1]: timed, names[0]: timed})
simulated_hip.install(lambda: card)
here = sys.argv[1]
try:
    main(["tune", "--shapes", f"{here}/shapes.txt", "--on", "simulated", "-o", f"{here}/t.json", "--candidates", "3"])
except SystemExit as done:
    assert not done.code
order = [name for name, *_ in card.launches[-17 * 2:]]
assert order == sorted(names[:2]) * 17, order
""",
        str(tmp_path),
    )
    (entry,) = table.load(tmp_path / "t.json").entries
    assert entry.kind == "predicted", "no card took these times"
    assert entry.clock_mhz is None
    assert [round(t.us) for t in entry.kernels] == [1000, 2000]
    lines = [json.loads(line) for line in (tmp_path / "t.json.journal.jsonl").read_text().splitlines()]
    assert [fields["outcome"]["why"] for fields in lines if fields["outcome"]["why"]] == [
        next(o["why"] for o in (f["outcome"] for f in lines) if "WRONG" in o["why"])
    ]


def test_the_simulated_card_is_the_one_that_is_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr(
        "hipgemm.measure.device.Device.open", lambda device, **options: opened.append((device, options))
    )
    for device in ("simulated", "card:1"):
        trial._open.__wrapped__(device, "780M")
    assert opened == [("simulated", {"card": "780M"}), ("card:1", {"card": None})]


def explain(*arguments: str) -> Any:
    done = invoked(["explain", *arguments])
    return done.stdout


def test_explain_says_which_and_why(tmp_path: Path) -> None:
    tune(tmp_path, "--candidates", "3")
    file = str(tmp_path / "t.json")
    (entry,) = table.load(tmp_path / "t.json").entries
    same = json.loads(explain("96", "64", "40", "--table", file, "--json"))
    assert same["kernel"] == entry.kernels[0].kernel
    assert same["octaves"] == 0
    assert same["predicted"][0]["us"] == pytest.approx(entry.kernels[0].us, abs=1e-3)
    assert len(same["predicted"]) == len(entry.kernels)
    text = explain("96", "128", "40", "--trans", "nt", "--table", file)
    assert "96 x 64 x 40 nn, 1.00 octaves away" in text
    assert "_nt" in text
    assert "% of peak" in text
    assert "predicted  " not in explain("96", "128", "40", "--table", file, "--no-predict")


def test_a_time_from_parts_below_the_bound_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would exclude all others by their bounds, and win."""
    real = trial.run
    liar = search.Field(SHAPE, TARGET).next(1, {})[0].kernel

    def run(job: Job) -> list[TrialOutcome]:
        return [TrialOutcome(liar, 1e-9)] if job.kernels == (liar,) and job.level == "estimate" else real(job)

    monkeypatch.setattr(trial, "run", run)
    with Journal(tmp_path / "j.jsonl", "me", lambda _: None) as log, pool("local", 1) as workers:
        found = search.search(SHAPE, TARGET, workers, log, lambda *_: None, 4)
    assert found.tried == 3
    assert liar not in [timed.kernel for timed in found.entry.kernels]


def test_the_kernel_that_is_chosen_today_stays_where_it_is_the_fastest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the levels before think little of it."""
    shipped = choose(SHAPE, TARGET.card, (table.shipped(),)).kernel
    mine = "gemm_64x64x8_8x8_l4_g2_s1_nn"
    for best in (shipped, mine):
        folder = tmp_path / best
        folder.mkdir()
        timed = table.Timed(mine, 9.0, 8.0, 10.0)
        table.TuningTable((table.Entry(SHAPE, TARGET.card, 2500, "predicted", (timed,), 1, 1),)).save(folder / "t.json")

        def run(job: Job, best: str = best) -> list[TrialOutcome]:
            fast = (job.kernels[0] == best) == (job.level == "full")
            return [TrialOutcome(job.kernels[0], 1.0 if fast else 2.0, 0.9, 2.1)]

        monkeypatch.setattr(trial, "run", run)
        tune(folder, "--candidates", "8")
        (entry,) = table.load(folder / "t.json").entries
        assert (entry.kernels[0].kernel, entry.kernels[0].us) == (best, 1e6)
        assert len(entry.kernels) == search.FULL


def test_where_no_time_from_parts_is_believed_what_is_chosen_today_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = choose(SHAPE, TARGET.card, (table.shipped(),)).kernel
    monkeypatch.setattr(
        trial, "run", lambda job: [TrialOutcome(job.kernels[0], *([1.0] * 3 if job.level == "full" else [1e-9]))]
    )
    tune(tmp_path, "--candidates", "8")
    (entry,) = table.load(tmp_path / "t.json").entries
    assert [timed.kernel for timed in entry.kernels] == [shipped]
    assert entry.tried == 0
