"""Programs of others on the simulated card, from where they are published: `make clients`.

    python tools/clients.py [NAME ...] [--folder DIR] [--examples DIR] [--tinygrad DIR] [--update]

triton         gets a virtual environment of its own, with the packages that are named here, and a fresh cache; what it
               does and how it is judged is in tests/clients
torch          the CPU's, which is given the card as its CUDA device (tests/clients/torch_cases.py)
jax            for ROCm 7, in an environment of this Python, which has to be 3.12 or newer (tests/clients/jax_cases.py)
openmm         its own test of the installation, which compares forces on the card with those of its reference
tinygrad       its own tests, from a checkout that --tinygrad names (https://github.com/tinygrad/tinygrad), left out
               without one; those of operations compare with torch, PyPI's or that of the Python which --python names
bitsandbytes   its library for ROCm, called by ctypes, out of its wheel
cupy           its wheel for ROCm 7; needs a hipcc and thrust's headers (Debian: hipcc, libthrust-dev)
iree           its compiler, its runtime and its command-line tools, from PyPI
llama.cpp      the wheel cyllama-rocm likewise: a small llama with random weights generates on the card and on the CPU
rocm-examples  AMD's, from a checkout that --examples names (https://github.com/ROCm/rocm-examples), left out without
               one; built with Debian's clang, HIP headers and device libraries (hipcc, clang-19)

The result is a table, which --update writes into docs/clients.md. Exit status 1 where a client gives a wrong answer, 2
where one could not be made to run; the others run all the same. A client whose needs are not there is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, installed or not

from tools.tables import markdown, put

ROOT = Path(__file__).resolve().parents[1]
SUITES = ROOT / "tests" / "clients"
PAGE = ROOT / "docs" / "clients.md"
PACKAGES = {
    "triton": ("triton==3.9.0", "numpy==2.4.6", "ml_dtypes"),
    "tinygrad": ("numpy==2.4.6", "torch", "pytest", "hypothesis"),
    "torch": ("torch==2.13.0+cpu", "triton==3.9.0", "numpy==2.4.6", "setuptools", "ninja"),
    "jax": ("jax==0.12.0.1", "jax-rocm7-plugin==0.12.0", "jax-rocm7-pjrt==0.12.0"),
    "openmm": ("openmm==8.6.1", "openmm-hip-7==8.6.1"),
    "bitsandbytes": ("numpy==2.4.6", "ml_dtypes"),
    "cupy": ("cupy-rocm-7-0==14.2.0", "numpy==2.4.6", "scipy"),
    "iree": ("iree-base-compiler==3.13.0", "iree-base-runtime==3.13.0", "numpy==2.4.6"),
    "llama.cpp": ("cyllama-rocm==0.2.18", "gguf==0.19.0", "numpy==2.4.6"),
}
BITSANDBYTES = "bitsandbytes==0.50.2"


def environment(folder: Path, packages: tuple[str, ...]) -> Path:
    """The Python of a virtual environment with these packages, made where it is not there yet."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def said(out: Path, *words: str | Path, check: bool = False, **variables: str) -> Any:
    """What a program of tests/clients, run under `hipgemm simulate`, writes to `out` as JSON."""
    out.unlink(missing_ok=True)
    simulated(*words, "--json", out, check=check, **variables)
    if not out.exists():
        raise SystemExit("it left no results")
    return json.loads(out.read_text())


def simulated(*words: str | Path, check: bool = False, **variables: str) -> int:
    """The exit status of a command under `hipgemm simulate`."""
    options = ["--check"] if check else []
    command = [sys.executable, "-m", "hipgemm", "simulate", *options, "--", *map(str, words)]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT), **variables}, check=False).returncode


def triton(folder: Path) -> tuple[str, bool]:
    """The kernels of tests/clients/triton_kernels.py, plain and under the sanitizer; then triton_throughput.py."""
    python = environment(folder / "triton", PACKAGES["triton"])
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as cache:
        words: tuple[str | Path, ...] = (python, "-W", "ignore", SUITES / "triton_kernels.py")
        for check in (False, True):
            out = folder / f"triton-{'check' if check else 'run'}.json"
            found.append(said(out, *words, check=check, TRITON_CACHE_DIR=cache))
        words = (*words[:-1], SUITES / "triton_throughput.py")
        rates = said(folder / "triton-throughput.json", *words, TRITON_CACHE_DIR=cache)
    listed = "; ".join(f"{r['case']} {r['times_numpy']:.1f}" if r["right"] else f"{r['case']} wrong" for r in rates)
    title = f"Simulated, 2^30 multiply-adds, in times of NumPy's sgemm of 1024 cubed on the same cores: {listed}.\n\n"
    table = triton_table(*found)
    return title + table, all(row["right"] is True for row in [*found[0]["cases"], *rates])


def triton_table(run: dict[str, Any], checked: dict[str, Any]) -> str:
    """Markdown: the sums, a row for each kind of case, and one for each case that is wrong or has faults."""
    faults = {row["case"]: row["faults"] for row in checked["cases"]}
    rows, rules = run["cases"], Counter(r for f in run["lint"] for r in f["faults"])

    def sums(rows: list[dict[str, Any]]) -> list[int]:
        right = sum(row["right"] is True for row in rows)
        timed = sum(row["microseconds"] is not None for row in rows)
        return [len(rows), right, timed, sum(faults.get(row["case"]) == 0 for row in rows)]

    cases, right, timed, clean = sums(rows)
    said = ", ".join(f"{rule} {n} times" for rule, n in sorted(rules.items())) or "nothing"
    head = [
        f"Triton {run['triton']}, {cases} cases: {right} right, {timed} with a predicted time, {clean} clean under "
        f"`--check`. Lint, in {len(run['lint'])} code objects: {said}.",
        "",
    ]
    kinds = {name: sums([row for row in rows if row["kind"] == name]) for name in {row["kind"]: 0 for row in rows}}
    each = [f"{name} | {' | '.join(map(str, counts))}" for name, counts in kinds.items()]
    told = [
        f"{row['case']} | {'right' if row['right'] is True else row['right']} | {faults.get(row['case'], 'not run')}"
        for row in rows
        if row["right"] is not True or faults.get(row["case"]) != 0
    ]
    tables = [markdown("kind | cases | right | timed | clean", each)]
    tables += ["", markdown("case | | faults under `--check`", told)] if told else []
    return "\n".join([*head, *tables]) + "\n"


def case_table(title: str, rows: list[dict[str, Any]]) -> str:
    """Markdown: how many are right, and a row for each that is not."""
    wrong = [f"{row['case']} | {row['right']}" for row in rows if row["right"] is not True]
    head = f"{title}, {len(rows)} cases: {len(rows) - len(wrong)} right.\n\n"
    return head + (markdown("case |", wrong) + "\n" if wrong else "")


def _cases(folder: Path, name: str, title: str, *options: str | Path) -> tuple[str, bool]:
    """What a suite of tests/clients says in JSON."""
    python = environment(folder / name, PACKAGES[name])
    rows = said(folder / f"{name}.json", python, SUITES / f"{name}_cases.py", *options)["cases"]
    return case_table(title, rows), all(row["right"] is True for row in rows)


def bitsandbytes(folder: Path) -> tuple[str, bool]:
    """Its library without its Python, which needs torch."""
    made = folder / "bitsandbytes-wheel"
    if not made.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(made), BITSANDBYTES]
        subprocess.run(command, check=True)
    library = made / "bitsandbytes" / "libbitsandbytes_rocm71.so"
    return _cases(folder, "bitsandbytes", BITSANDBYTES.replace("==", " "), "--library", library)


def openmm(folder: Path) -> tuple[str, bool]:
    """What its own test prints."""
    python = environment(folder / "openmm", PACKAGES["openmm"])
    command = [sys.executable, "-m", "hipgemm", "simulate", "--", str(python), "-m", "openmm.testInstallation"]
    there = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=there, capture_output=True, text=True, check=False)
    found = re.findall(r"^Reference vs\. HIP: (\S+)$", done.stdout, re.M)
    right = done.returncode == 0 and bool(found) and "All differences are within tolerance" in done.stdout
    said = f"median difference of its forces to the reference's {found[0]}" if found else done.stdout
    return f"{PACKAGES['openmm'][0].replace('==', ' ')}: {said}, {'right' if right else 'wrong'}.\n", right


TINYGRAD_TESTS = ("test/test_tiny.py", "test/backend/test_ops.py")
AT_ONCE = 70
"""Tests of one process."""


def tinygrad(folder: Path, checkout: Path, python: Path | None = None) -> tuple[str, bool]:
    """Its tests on the simulated card, and those that fail once more on its CPU device, which asks for a clang."""
    python = python or environment(folder / "tinygrad", PACKAGES["tinygrad"])
    where = {"PYTHONPATH": os.pathsep.join((str(ROOT), str(checkout))), "PARALLEL": "0"}
    where |= {"CC": os.environ.get("CC") or next(filter(shutil.which, ("clang", "clang-22", "clang-19")), "clang")}

    def pytest(device: str, *words: str) -> str:
        command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *words]
        if device == "HIP":
            command = [sys.executable, "-m", "hipgemm", "simulate", "--", *command]
        there = {**os.environ, **where, "DEV": device}
        return subprocess.run(command, cwd=checkout, env=there, capture_output=True, text=True, check=False).stdout

    def run(device: str, tests: list[str]) -> dict[str, str]:
        """Test -> PASSED, FAILED, SKIPPED, or DIED where its process ended without a word of it."""
        found = dict.fromkeys(tests, "DIED")
        for first in range(0, len(tests), AT_ONCE):
            said = pytest(device, "-v", *tests[first : first + AT_ONCE])
            found |= re.findall(r"^(\S+::\S+) (PASSED|FAILED|SKIPPED)", said, re.M)
        return found

    tests = re.findall(r"^(\S+::\S+)$", pytest("CPU", "--collect-only", "-q", *TINYGRAD_TESTS), re.M)
    found = run("HIP", tests)
    failed = [test for test, said in found.items() if said in ("FAILED", "DIED")]
    on_cpu = run("CPU", failed)
    return tinygrad_table(found, on_cpu), all(on_cpu.get(test) == "FAILED" for test in failed)


def tinygrad_table(found: dict[str, str], on_cpu: dict[str, str]) -> str:
    """Markdown: the sums, and a row for each that fails."""
    count = Counter(found.values())
    failed = sorted(test for test, said in found.items() if said in ("FAILED", "DIED"))
    rows = [f"{t.split('::')[-1]} | {on_cpu.get(t, 'not run').lower()}" for t in failed]
    return (
        f"{len(found)} tests: {count['PASSED']} passed, {count['SKIPPED']} skipped by themselves, "
        f"{count['FAILED'] + count['DIED']} failed.\n"
    ) + ("\n" + markdown("failed | on tinygrad's CPU device", rows) + "\n" if failed else "")


def llama(folder: Path) -> tuple[str, bool]:
    """The generations of tests/clients/llama_generate.py."""
    python = environment(folder / "llama.cpp", PACKAGES["llama.cpp"])
    run = said(folder / "llama.cpp.json", python, SUITES / "llama_generate.py")
    return llama_table(run), all(row["right"] for row in run["rows"])


def llama_table(run: dict[str, Any]) -> str:
    """Markdown: a row for each type of weights."""
    head = (
        f"weights | | same tokens, of {run['tokens']} | largest error of a step, to the CPU | median, to float64 "
        "| the same, of NumPy's chain | a product, to NumPy's"
    )
    rows = []
    for row in run["rows"]:
        said = [row["kind"], "right" if row["right"] else "wrong", str(row["same"]), f"{row['error']:.1e}"]
        said += [f"{row[key]:.1e}" if key in row else "" for key in ("exact", "modelled", "product")]
        rows.append(" | ".join(said))
    return markdown(head, rows) + "\n"


VALIDATED = "Validation passed"
SAXPY = r"results: \[ 3, 5, 7, 9, 11, 13, 15, 17, 19, 21 \]"
# What each prints where it is right, as far as it says more than its exit status.
EXAMPLES = {
    **dict.fromkeys(
        (
            *(f"Applications/{n}" for n in ("bitonic_sort", "floyd_warshall", "histogram", "prefix_sum")),
            *(f"HIP-Basic/{n}" for n in (
                "bit_extract", "cooperative_groups", "device_globals", "dynamic_shared", "events", "gpu_arch",
                "inline_assembly", "matrix_multiplication", "module_api", "moving_average", "shared_memory",
                "static_device_library", "static_host_library", "warp_shuffle",
            )),
        ),
        VALIDATED,
    ),
    "Applications/convolution": r"the gpu result is 0\.000\d+",
    "HIP-Basic/bandwidth": r"Device to Device",
    "HIP-Basic/device_query": r"gcnArchName: +gfx1100",
    "HIP-Basic/hello_world": r"Hello world from device kernel block 1 thread 1!",
    "HIP-Basic/hello_world_cuda": r"Hello, World!",
    "HIP-Basic/multi_gpu_data_transfer": r"requires at least 2 GPU devices",
    "HIP-Basic/occupancy": r"Theoretical Occupancy is 100%",
    "HIP-Basic/runtime_compilation": r"results: \[ 7.1, 14.2, 21.3, 28.4, 35.5, 42.6, 49.7, 56.8, 63.9, 71 \]",
    "HIP-Basic/saxpy": SAXPY,
    "HIP-Basic/streams": r"streams completed!",
    "HIP-Basic/texture_management": r"Texture functions are not supported on device 0",
}  # fmt: skip
DEVICE_LIBRARIES = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")


def hip_compiler(folder: Path, libraries: Path) -> tuple[list[str], dict[str, str]]:
    """Clang for HIP with what Debian has, and its environment. Debian's device libraries are of before gfx11: only the
    number that stands for the target is missing."""
    bitcode = folder / "bitcode"
    if not bitcode.exists():
        shutil.copytree(DEVICE_LIBRARIES, bitcode)
        number = bitcode / "oclc_isa_version_1100.ll"
        number.write_text(
            'target triple = "amdgcn-amd-amdhsa"\n'
            "@__oclc_ISA_version = linkonce_odr hidden local_unnamed_addr addrspace(4) constant i32 11000, align 4\n"
        )
        flags = ["-target", "amdgcn-amd-amdhsa", "-nogpulib", "-x", "ir", "-c", "-emit-llvm"]
        subprocess.run(["clang-19", *flags, number, "-o", number.with_suffix(".bc")], check=True)
    tools = sorted(Path("/usr/lib").glob("llvm-*/bin"))  # one of them has clang-offload-bundler
    path = os.pathsep.join([os.environ["PATH"], *map(str, tools)])
    flags = ["-x", "hip", "--offload-arch=gfx1100", "--hip-path=/usr", "--rocm-path=/usr", "-std=c++17", "-O2", "-w"]
    return ["clang++-19", *flags, f"--rocm-device-lib-path={bitcode}", f"-L{libraries}"], {**os.environ, "PATH": path}


def rocm_examples(folder: Path, checkout: Path) -> tuple[str, bool]:
    """AMD's examples that need no other library and no graphics: built, run, and their own words for it."""
    from hipgemm.simulated_hip import rocm_path

    compiler, environ = hip_compiler(folder, rocm_path() / "lib")
    rows: list[dict[str, Any]] = []
    for name, expected in sorted(EXAMPLES.items()):
        source, program = checkout / name, folder / Path(name).name
        files = [str(f) for f in (*source.glob("main.*p"), *source.glob("library/*.hip"))]
        flags = [f"-I{checkout / 'Common'}", f"-I{source / 'library'}"]
        flags += ["-fgpu-rdc"] if name.endswith("static_device_library") else []
        subprocess.run([*compiler, *flags, *files, "-o", program, "-lamdhip64", "-lhiprtc"], env=environ, check=True)
        if (module := source / "module.hip").exists():
            device = ["--cuda-device-only", "--no-gpu-bundle-output"]
            subprocess.run([*compiler, *device, module, "-o", folder / "module.co"], env=environ, check=True)
        command = [sys.executable, "-m", "hipgemm", "simulate", "--", str(program)]
        there = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=folder, env=there, capture_output=True, text=True, check=False)
        right = done.returncode == 0 and re.search(expected, done.stdout) is not None
        last = (done.stderr or done.stdout).strip().replace(f"{checkout}/", "").splitlines()[-1]
        rows.append({"case": name, "right": right or f"status {done.returncode}: {last}"})
        print(json.dumps(rows[-1]), flush=True)
    return case_table("AMD's examples", rows), all(row["right"] is True for row in rows)


def missing(name: str) -> str:
    """What of this machine's a client needs and does not find."""
    if name == "jax" and sys.version_info < (3, 12):
        return "hipgemm in Python 3.12"
    if name not in ("cupy", "rocm-examples"):
        return ""
    tools = ("hipcc",) if name == "cupy" else ("hipcc", "clang++-19")
    lacks = [tool for tool in tools if shutil.which(tool) is None]
    if name == "cupy" and not Path("/usr/include/thrust/version.h").exists():
        lacks.append("thrust's headers (Debian: libthrust-dev)")
    if name == "rocm-examples" and not DEVICE_LIBRARIES.exists():
        lacks.append("AMD's device libraries (Debian: rocm-device-libs)")
    return ", ".join(lacks)


CLIENTS: dict[str, Any] = {
    "triton": triton,
    "tinygrad": tinygrad,
    "torch": partial(_cases, name="torch", title="torch 2.13.0 for the CPU, with Triton 3.9.0"),
    "jax": partial(_cases, name="jax", title="JAX 0.12.0.1 for ROCm 7"),
    "openmm": openmm,
    "bitsandbytes": bitsandbytes,
    "cupy": partial(_cases, name="cupy", title="CuPy 14.2.0 for ROCm 7.0"),
    "iree": partial(_cases, name="iree", title="IREE 3.13.0"),
    "llama.cpp": llama,
    "rocm-examples": rocm_examples,
}


def write(name: str, table: str) -> None:
    """Put a client's table into the page, between its marks."""
    put(PAGE, name, f"\n{table}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*CLIENTS, []], help="all, if none is named")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "clients")
    parser.add_argument("--examples", type=Path, help="a checkout of AMD's examples")
    parser.add_argument("--tinygrad", type=Path, help="a checkout of tinygrad")
    parser.add_argument("--python", type=Path, help="for tinygrad: one with numpy, pytest and torch")
    parser.add_argument("--update", action="store_true", help="write the tables into docs/clients.md")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    status, checkouts = 0, {"rocm-examples": asked.examples, "tinygrad": asked.tinygrad}
    for name in asked.names or CLIENTS:
        more = []
        if name in checkouts:
            if checkouts[name] is None:
                print(f"{name}: left out, no checkout is named", file=sys.stderr)
                continue
            more = [checkouts[name].resolve()] + ([asked.python] if name == "tinygrad" else [])
        if lacks := missing(name):
            print(f"{name}: left out, this machine has no {lacks}", file=sys.stderr)
            continue
        try:
            table, right = CLIENTS[name](asked.folder.resolve(), *more)
        except (SystemExit, subprocess.CalledProcessError) as error:
            print(f"{name}: could not be made to run: {error}", file=sys.stderr)
            status = 2
            continue
        print(table)
        status = max(status, int(not right))
        if asked.update:
            write(name, table)
    return status


if __name__ == "__main__":
    sys.exit(main())
