"""hiprtc on the simulated card: scripts that compile their kernels as they run, as hip-python's users write them."""

import subprocess
from pathlib import Path

from verbs import Run

COMMAND = "from hipgemm.cli import main\nmain(prog_name='hipgemm')\n"
SCRIPT = Path(__file__).with_name("programs").joinpath("hiprtc", "start.inc").read_text()


def run(run_program: Run, tmp_path: Path, text: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + text)
    return run_program(COMMAND, "simulate", str(script), code=code)


PRINTING = r"""
extern "C" __global__ void say(float f, long long big, short small) {
    if (threadIdx.x % 32 == 1)
        printf("%d of %d|%5.2f|%-6s|%lld|%hd|%x|%c|%%|%p\n", (int)threadIdx.x, blockDim.x, f, "abc", big, small, 255u,
               'z', (void *)16);
    if (threadIdx.x == 40)
        printf("once\n");
}
extern "C" __global__ void much(int n) {
    for (int i = 0; i < n; ++i) printf("%d\n", i);
}
"""


def test_a_kernel_prints(run_program: Run, tmp_path: Path) -> None:
    (tmp_path / "printing.hip").write_text(PRINTING)
    done = run(
        run_program,
        tmp_path,
        """
from pathlib import Path
program, code, log = build(Path(__file__).with_name("printing.hip").read_bytes())
assert code == R.HIPRTC_SUCCESS, log
module = check(hip.hipModuleLoadData(image(program)))
def launch(name, *arguments, threads=64):
    kernel = check(hip.hipModuleGetFunction(module, name))
    check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, None, None, arguments))
launch(b"say", ctypes.c_float(2.5), ctypes.c_longlong(-1 << 40), ctypes.c_short(-3))
print("--")
launch(b"much", ctypes.c_int(3000), threads=32)
""",
    )
    said, much = done.stdout.split("--\n")
    line = "{} of 64| 2.50|abc   |-1099511627776|-3|ff|z|%|0x10"
    assert sorted(said.splitlines()) == sorted([line.format(1), line.format(33), "once"])
    numbers = [int(text) for text in much.splitlines()]
    assert sorted(numbers) == sorted([*range(3000)] * 32), "more than a card's 1 MiB: nothing is lost"
    assert "did not fit" not in done.stderr


ROUNDS = Path(__file__).with_name("sources").joinpath("hiprtc_rounds.hip").read_text()


def test_workgroups_of_a_cooperative_launch_wait_for_one_another(run_program: Run, tmp_path: Path) -> None:
    """More workgroups than the host has threads to spare, and a barrier for the whole grid made of atomics."""
    (tmp_path / "rounds.hip").write_text(ROUNDS)
    script = """
from pathlib import Path
program, code, log = build(Path(__file__).with_name("rounds.hip").read_bytes())
assert code == R.HIPRTC_SUCCESS, log
f = check(hip.hipModuleGetFunction(check(hip.hipModuleLoadData(image(program))), b"rounds"))
n, count = 100, 3
arrived, cells, sums = (check(hip.hipMalloc(4 * n)) for _ in range(3))
check(hip.hipMemset(arrived, 0, 4 * n))
values = [ctypes.c_void_p(int(p)) for p in (arrived, cells, sums)] + [ctypes.c_int(count)]
parameters = (ctypes.c_void_p * 4)(*map(ctypes.addressof, values))
def launch(groups, threads=64):
    where = ctypes.addressof(parameters)
    return hip.hipModuleLaunchCooperativeKernel(f, groups, 1, 1, threads, 1, 1, 0, None, where)[0]
E = hip.hipError_t
print(launch(n).name)
got = np.zeros(n, np.uint32)
check(hip.hipMemcpy(got, sums, got.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
neighbour = (np.arange(n) + 1) % n
print((got == count * 100 * neighbour + 3).all())
print(launch(1_000_000).name, launch(0).name, launch(1, 0).name)
"""
    done = run(run_program, tmp_path, script)
    first, right, refused = done.stdout.splitlines()
    assert (first, right) == ("hipSuccess", "True")
    assert refused == "hipErrorCooperativeLaunchTooLarge hipErrorInvalidValue hipErrorInvalidValue"
    assert "the card cannot run the whole grid at once" in done.stderr
    (tmp_path / "script.py").write_text(
        (tmp_path / "script.py").read_text().replace("n, count = 100, 3", "n, count = 9, 3")
    )
    checked = run_program(COMMAND, "simulate", "--check", str(tmp_path / "script.py"))
    assert checked.stdout.splitlines()[:2] == ["hipSuccess", "True"]
    assert "memory race" not in checked.stderr


def test_a_kernel_that_waits_in_vain_is_an_error_code(run_program: Run, tmp_path: Path) -> None:
    source = """extern "C" __global__ void waits(unsigned *flag) {
    while (__scoped_atomic_load_n(flag, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) != 5) ;
}"""
    script = f"""
program, code, log = build({source.encode()!r})
assert code == R.HIPRTC_SUCCESS, log
f = check(hip.hipModuleGetFunction(check(hip.hipModuleLoadData(image(program))), b"waits"))
flag = check(hip.hipMalloc(256))
for value in 5, 4:
    check(hip.hipMemset(flag, 0, 256))
    check(hip.hipMemset(flag, value, 1))
    print(hip.hipModuleLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, None, None, (flag,))[0].name)
"""
    (tmp_path / "script.py").write_text(SCRIPT + script)
    done = run_program(COMMAND, "simulate", "--budget", "20000000", str(tmp_path / "script.py"))
    assert done.stdout.split() == ["hipSuccess", "hipErrorLaunchTimeOut"]
    assert "all workgroups that run wait, and none makes progress" in done.stderr
    assert "which holds 0x4" in done.stderr
    assert "raise the budget: --budget 160000000" in done.stderr
