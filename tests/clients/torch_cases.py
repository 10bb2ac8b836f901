"""torch on the simulated card: operators, training, streams, Triton and torch.compile, against torch on the CPU. Run by
tools/clients.py; alone:

    hipgemm simulate -- python tests/clients/torch_cases.py --json out.json [--only WORD]

A case is a function of a device's name that gives tensors or numbers; it is called for "cuda" and "cpu" from the same
seed. A tensor that was made on the card must lie there. Only matrix products and Triton's kernels round otherwise.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import suite
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import nn
from torch.utils import cpp_extension

CASES: dict[str, Callable[[str], Any]] = {}


def case(of: Callable[[str], Any]) -> Callable[[str], Any]:
    CASES[of.__name__.replace("_", " ")] = of
    return of


def operators(kind: str, **named: Callable[..., Any]) -> None:
    """Each with its gradients, of two matrices with positive elements and one of numbers from 0 to 4."""
    for name, operator in named.items():

        def run(device: str, operator: Callable[..., Any] = operator) -> Any:
            a, b = ((torch.rand(4, 5) + 0.1).to(device).requires_grad_() for _ in "ab")
            out = operator(a, b, torch.randint(0, 5, (4, 5)).to(device))
            if isinstance(out, torch.Tensor) and out.requires_grad:
                (out * out).abs().sum().backward()
            return [out, a.grad, b.grad]

        CASES[f"{kind}: {name}"] = run


operators(
    "elementwise", add=lambda a, b, i: a + b, sub=lambda a, b, i: a - 2 * b, mul=lambda a, b, i: a * b,
    div=lambda a, b, i: a / b, pow=lambda a, b, i: a**b, exp=lambda a, b, i: a.exp(), log=lambda a, b, i: a.log(),
    sqrt=lambda a, b, i: a.sqrt(), rsqrt=lambda a, b, i: a.rsqrt(), sin=lambda a, b, i: a.sin(),
    tanh=lambda a, b, i: a.tanh(), sigmoid=lambda a, b, i: a.sigmoid(), erf=lambda a, b, i: a.erf(),
    gelu=lambda a, b, i: F.gelu(a), silu=lambda a, b, i: F.silu(a), relu=lambda a, b, i: F.relu(a - 0.5),
    clamp=lambda a, b, i: a.clamp(0.3, 0.7), where=lambda a, b, i: torch.where(i > 2, a, b),
    lerp=lambda a, b, i: a.lerp(b, 0.3), half=lambda a, b, i: (a.half() + b.half()).float(),
    bfloat16=lambda a, b, i: (a.bfloat16() * b.bfloat16()).float(), compare=lambda a, b, i: (a < b) & (i != 1),
    shift=lambda a, b, i: (i << 2) ^ i, remainder=lambda a, b, i: a % b,
)  # fmt: skip
operators(
    "reduction", sum=lambda a, b, i: a.sum(1),
    mean=lambda a, b, i: a.mean(0, keepdim=True), amax=lambda a, b, i: a.amax(1),
    argmin=lambda a, b, i: a.argmin(1), var=lambda a, b, i: a.var(1), norm=lambda a, b, i: a.norm(dim=1),
    prod=lambda a, b, i: a.prod(1), all=lambda a, b, i: (i > 0).all(1), softmax=lambda a, b, i: a.softmax(1),
    logsumexp=lambda a, b, i: a.logsumexp(1), layer_norm=lambda a, b, i: F.layer_norm(a, (5,)),
    cross_entropy=lambda a, b, i: F.cross_entropy(a, i[:, 0]), cumsum=lambda a, b, i: a.cumsum(1),
)  # fmt: skip
operators(
    "data", cat=lambda a, b, i: torch.cat([a, b], 1), stack=lambda a, b, i: torch.stack([a, b]),
    split=lambda a, b, i: a.split(2, 1)[1], transpose=lambda a, b, i: a.t(), view=lambda a, b, i: a.view(2, 10),
    slice=lambda a, b, i: a[1:, ::2], gather=lambda a, b, i: a.gather(1, i), index=lambda a, b, i: a[i[:, 0] % 4],
    scatter_add=lambda a, b, i: a.scatter_add(1, i, b),
    index_put=lambda a, b, i: a.index_put((i[0] % 4,), b[:1, 0], True),
    sort=lambda a, b, i: a.sort(1).values, topk=lambda a, b, i: a.topk(2, 1).values, flip=lambda a, b, i: a.flip(1),
    tril=lambda a, b, i: a.tril(), pad=lambda a, b, i: F.pad(a, (1, 2)), expand=lambda a, b, i: a[:, :1].expand(4, 7),
    masked_fill=lambda a, b, i: a.masked_fill(i > 2, 0.0), unfold=lambda a, b, i: a.unfold(1, 3, 1),
    embedding=lambda a, b, i: F.embedding(i % 4, a), unique=lambda a, b, i: i.unique(),
)  # fmt: skip
operators(
    "product", mm=lambda a, b, i: a @ b.t(), mv=lambda a, b, i: a.mv(b[0]),
    linear=lambda a, b, i: F.linear(a, b, b[:, 0]),
    addmm=lambda a, b, i: torch.addmm(a[:, :4], a, b.t(), beta=0.5, alpha=2), outer=lambda a, b, i: a[0].outer(b[1]),
    bmm=lambda a, b, i: a.expand(3, 4, 5).bmm(b.t().expand(3, 5, 4)),
    half=lambda a, b, i: (a.half() @ b.half().t()).float(),
    einsum=lambda a, b, i: torch.einsum("ij,kj->ik", a, b), double=lambda a, b, i: a.double() @ b.double().t(),
    complex=lambda a, b, i: (torch.complex(a, b) @ torch.complex(b, a).mH).real, integers=lambda a, b, i: i @ i.t(),
    convolution=lambda a, b, i: F.conv2d(a[None, None], b[None, None, :3, :3], padding=1),
    attention=lambda a, b, i: F.scaled_dot_product_attention(a[None], b[None], a[None]),
)  # fmt: skip


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0, batch_first=True), 2)
        self.out = nn.Linear(32, 50)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        return self.out(self.layers(self.embed(x), mask=mask)).flatten(0, 1)


def losses(model: nn.Module, x: torch.Tensor, y: torch.Tensor, device: str, steps: int = 8) -> list[float]:
    """Of a training."""
    model, x, y = model.to(device), x.to(device), y.to(device)
    adam = torch.optim.Adam(model.parameters(), 1e-2)
    out = []
    for _ in range(steps):
        adam.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        adam.step()
        out.append(loss.item())
    assert out[-1] < out[0]
    return out


@case
def training_of_a_perceptron(device: str) -> Any:
    model = nn.Sequential(nn.Linear(20, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 5))
    return losses(model, torch.randn(32, 20), torch.randint(0, 5, (32,)), device)


@case
def training_of_a_transformer(device: str) -> Any:
    return losses(Transformer(), torch.randint(0, 50, (4, 12)), torch.randint(0, 50, (48,)), device)


@case
def training_of_a_convolutional_net(device: str) -> Any:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 4)
    )
    return losses(model, torch.randn(8, 3, 8, 8), torch.randint(0, 4, (8,)), device)


@case
def results_given_a_place(device: str) -> Any:
    a, out = torch.rand(3, 4).to(device), torch.empty(0, device=device)
    torch.add(a, 1, out=out)
    b = torch.zeros(2, 2, device=device)
    b.t()[0] = 5
    weight = nn.Parameter(a.clone())
    with torch.inference_mode():  # a view is of inference as what it is a view of is
        views = weight.view(4, 3), (weight * 2).view(4, 3)
    assert [view.is_inference() for view in (*views, views[1].t())] == [False, True, True]
    product = torch.mm(a, a.t(), out=torch.empty(3, 3, device=device))
    return [out, product, b.resize_(3, 1), a.set_(b), *views]


@case
def a_file(device: str) -> Any:
    file = io.BytesIO()
    torch.save({"weight": torch.rand(3).to(device)}, file)
    file.seek(0)
    return torch.load(file)["weight"]


@case
def the_card_as_torch_says_it(device: str) -> Any:
    if device == "cpu":
        return [True] * 13
    card = torch.cuda.get_device_properties(0)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    stream, before = torch.cuda.Stream(), torch.cuda.memory_allocated()
    with torch.cuda.stream(stream):
        start.record()
        x = torch.ones(256, 256, device="cuda")
        y = x @ x
        end.record()
        current = torch.cuda.current_stream() == stream
    torch.cuda.synchronize()
    torch.cuda.manual_seed(5)
    first = torch.rand(3, device="cuda")
    torch.cuda.manual_seed(5)
    tensor = torch.from_dlpack(first.__dlpack__())
    return [
        torch.cuda.is_available(), card.gcnArchName.startswith("gfx1"), torch.version.hip is not None, current,
        start.elapsed_time(end) > 0, y[0, 0].item() == 256, torch.cuda.memory_allocated() - before >= 2 * 256 * 256 * 4,
        torch.equal(first, torch.rand(3, device="cuda")), tensor.data_ptr() == first.data_ptr(), tensor.is_cuda,
        torch.randn(3).pin_memory().is_pinned(), torch.cuda.mem_get_info()[0] < card.total_memory,
        "Allocated memory" in torch.cuda.memory_summary(),
    ]  # fmt: skip


@case
def training_of_cells_with_memory(device: str) -> Any:
    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.gru, self.out = nn.LSTM(6, 8), nn.GRU(8, 8), nn.Linear(8, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.out(self.gru(self.lstm(x)[0])[0][-1])

    return losses(Last(), torch.randn(5, 4, 6), torch.randint(0, 3, (4,)), device)


@case
def mixed_precision(device: str) -> Any:
    torch.manual_seed(0)
    model = nn.Linear(8, 4).to(device)
    scaler = torch.amp.GradScaler(device, enabled=device == "cuda")
    with torch.autocast(device, torch.bfloat16):
        out = model(torch.ones(2, 8, device=device))
    scaler.scale(out.float().sum()).backward()
    scaler.step(torch.optim.SGD(model.parameters(), 0.1))
    scaler.update()
    return [out.float(), model.weight]


@triton.jit
def add_vectors(a, b, out, first, size, block: tl.constexpr):
    at = first + tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + at, tl.load(a + at, mask=at < size) + tl.load(b + at, mask=at < size), mask=at < size)


@case
def kernel_of_Triton(device: str) -> Any:
    a, b = (torch.rand(1000).to(device) for _ in "ab")
    if device == "cpu":
        return a + b
    out = torch.empty_like(a)
    add_vectors[(4,)](a, b, out, 0, 1000, 256)
    return out


@case
def compiled_by_Triton(device: str) -> Any:
    def function(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.gelu(a * 2 + b).softmax(-1)

    if device == "cuda":
        function = torch.compile(function)
    return function(torch.randn(16, 64).to(device), torch.randn(64).to(device))


CUDA = r"""
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

__global__ void scale(const float *x, float *y, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * by;
}

torch::Tensor scaled(torch::Tensor x, double by) {
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    torch::Tensor y = torch::empty_like(x);
    int n = x.numel();
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    scale<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), by, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scaled", &scaled); }
"""


@case
def extension_in_CUDA_by_load(device: str) -> Any:
    x = torch.rand(1000).to(device)
    if device == "cpu":
        return x * 3
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "scale.cu"
        source.write_text(CUDA)
        return cpp_extension.load("scale", [str(source)], build_directory=folder).scaled(x, 3.0)


@case
def sparse_tensors(device: str) -> Any:
    """Coordinates and compressed rows: made, coalesced, changed in place, multiplied, with gradients."""
    dense, b = ((torch.rand(8, 6) * (torch.rand(8, 6) < 0.4)).to(device), torch.rand(6, 5).to(device).requires_grad_())
    coo = dense.to_sparse().requires_grad_()
    torch.sparse.mm(coo, b).square().sum().backward()
    twice = torch.cat([dense.to_sparse().mul_(2)] * 2).coalesce()
    at = torch.tensor([[0, 1, 1], [2, 0, 0]], device=device)
    made = torch.sparse_coo_tensor(at, torch.tensor([3.0, 4, 5], device=device), (2, 3)).coalesce()
    rows = dense.to_sparse_csr() @ b.detach()
    assert coo.grad is not None
    return [
        coo.grad.to_dense(),
        b.grad,
        twice.values(),
        twice.indices(),
        made.to_dense(),
        rows,
        coo.detach() @ b.detach()[:, 0],
    ]


@case
def training_of_a_sparse_embedding(device: str) -> Any:
    table = nn.Embedding(10, 4, sparse=True).to(device)
    optimiser = torch.optim.SparseAdam(table.parameters(), lr=0.1)
    for i in range(3):
        optimiser.zero_grad()
        table(torch.tensor([1, 3, 3, i]).to(device)).square().sum().backward()
        optimiser.step()
    return table.weight.detach()


@case
def graphs_replayed(device: str) -> Any:
    """Operators in place, products, also sparse ones with gradients, Triton, views and what is only of the graph."""
    w, v, x = torch.rand(64, 64).to(device), torch.rand(64).to(device), torch.zeros(64, device=device)
    coo, rows = (w * (w < 0.2)).to_sparse(), (w * (w > 0.8)).to_sparse_csr()

    def work() -> Any:
        x.add_(1)
        z = (w @ (v + x)).softmax(0) + (v * x).view(8, 8).sum(1).repeat(8)
        of = (v + x).view(64, 1).requires_grad_()
        product = torch.sparse.mm(coo, of)
        z = z + torch.autograd.grad(product.square().sum(), of)[0].view(64) + coo.t() @ (rows @ (x * v))
        z = z + torch.sparse_coo_tensor(coo.indices(), coo.values() * x[0], (64, 64)) @ v
        if device == "cpu":
            return z + z
        twice = torch.empty_like(z)
        add_vectors[(1,)](z, z, twice, 0, 64, 64)
        return twice

    if device == "cpu":
        return [work() for _ in range(3)]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work()
    assert not x.any(), "a capture does nothing"
    return [[graph.replay(), result.clone()][1] for _ in range(3)]


@case
def training_by_graph(device: str) -> Any:
    model: Any = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4)).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, capturable=device == "cuda")
    data = torch.randn(6, 8, 16).to(device)
    place = data[0].clone()

    def step() -> Any:
        optimiser.zero_grad(set_to_none=True)
        loss = (model(place) - 1).square().mean()
        loss.backward()
        optimiser.step()
        return loss

    if device == "cpu":
        return [[place.copy_(batch), step().detach()][1] for batch in data]
    found = [[place.copy_(batch), step().detach()][1] for batch in data[:3]]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    return found + [[place.copy_(batch), graph.replay(), loss.detach().clone()][2] for batch in data[3:]]


@case
def training_compiled_by_Triton(device: str) -> Any:
    model: Any = nn.Sequential(nn.Linear(20, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 5))
    if device == "cuda":
        model = torch.compile(model)
    return losses(model, torch.randn(16, 20), torch.randint(0, 5, (16,)), device, 4)


@case
def a_kernel_past_the_end_of_a_tensor(device: str) -> Any:
    """The last case: the error is the next one's, too, as on a card."""
    if device == "cpu":
        return [True]
    a = torch.rand(1000, device=device)
    far = 1 << 28  # past all that is allocated
    try:
        add_vectors[(1,)](a, a, a, far, 2 * far, 256)
    except (RuntimeError, SystemError):  # the second where Triton's launcher goes on with the error set
        return [True]
    return [False]


def judge(run: Callable[[str], Any]) -> None:
    torch.manual_seed(0)
    expected = run("cpu")
    torch.manual_seed(0)
    found = run("cuda")
    for ours, right in zip(*(x if isinstance(x, list) else [x] for x in (found, expected)), strict=True):
        if isinstance(ours, torch.Tensor):
            assert ours.is_cuda
            assert ours.stride() == right.stride()
            ours, right = ours.detach().cpu(), right.detach()
        if ours is not None or right is not None:  # losses are float32's, so they are compared as those
            as_float32 = {"rtol": 1.3e-6, "atol": 1e-5} if isinstance(ours, float) else {}
            torch.testing.assert_close(ours, right, **as_float32)


def main() -> int:
    cases = {name: partial(judge, case) for name, case in CASES.items()}
    return suite.run(suite.options(__doc__).parse_args(), cases)


if __name__ == "__main__":
    sys.exit(main())
