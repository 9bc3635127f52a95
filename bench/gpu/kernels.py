#!/usr/bin/env python3
"""Times with PyTorch what bench/gpu/day times with Troupe: the kernels of a block of GPT-2, under the same names.

A line a kernel, with tabs between: name, microseconds, and 10^12 operations or 10^9 bytes a second. N = B T rows.
"""

import argparse
import time

import torch
from torch.nn import functional

ENOUGH_SECONDS = 0.2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", default="bfloat16", choices=["float32", "bfloat16"])
    parser.add_argument("--sequences", type=int, default=16)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--hidden", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--vocabulary", type=int, default=50304)
    arguments = parser.parse_args()
    wide = getattr(torch, arguments.precision)
    b, t, c, h = arguments.sequences, arguments.sequence, arguments.hidden, arguments.heads
    n = b * t
    size = wide.itemsize

    def make(*sizes, kind=wide, grad=False):
        made = (0.1 * torch.randn(*sizes, device=arguments.device)).to(kind)
        return made.requires_grad_(grad)

    def rate(name, work, scale, call):
        for _ in range(3):
            call()
        once = timed(arguments.device, call, 1)
        calls = max(1, min(1000, int(ENOUGH_SECONDS / max(once, 1e-9))))
        seconds = timed(arguments.device, call, calls) / calls
        print(f"{name}\t{seconds * 1e6:.1f}\t{work / seconds * scale:.1f}", flush=True)

    for name, k, m in [
        ("qkv", c, 3 * c),
        ("out", c, c),
        ("inner", c, 4 * c),
        ("outer", 4 * c, c),
        ("head", c, arguments.vocabulary),
    ]:
        x, weight, y = make(n, k), make(k, m), make(n, m)
        operations = 2.0 * n * k * m
        rate("product " + name, operations, 1e-12, lambda: torch.matmul(x, weight))
        rate("input gradient " + name, operations, 1e-12, lambda: torch.matmul(y, weight.T))
        rate("weight gradient " + name, operations, 1e-12, lambda: torch.matmul(x.T, y))
        del x, weight, y

    parts = [make(b, h, t, c // h, grad=True) for _ in range(3)]
    operations = 2.0 * n * t * c
    rate("attention", operations, 1e-12, lambda: functional.scaled_dot_product_attention(*parts, is_causal=True))
    attended = functional.scaled_dot_product_attention(*parts, is_causal=True)
    slope = torch.randn_like(attended)
    rate(
        "attention backward",
        2.5 * operations,
        1e-12,
        lambda: torch.autograd.grad(attended, parts, slope, retain_graph=True),
    )
    del parts, attended, slope

    rows = float(n * c * size)
    x, gamma, beta = make(n, c, grad=True), make(c, grad=True), make(c, grad=True)
    rate("layer norm", 2 * rows, 1e-9, lambda: functional.layer_norm(x, (c,), gamma, beta))
    y = functional.layer_norm(x, (c,), gamma, beta)
    slope = torch.randn_like(y)
    rate("layer norm backward", 3 * rows, 1e-9, lambda: torch.autograd.grad(y, [x], slope, retain_graph=True))
    rate("layer norm weights", 2 * rows, 1e-9, lambda: torch.autograd.grad(y, [gamma, beta], slope, retain_graph=True))
    del x, y, slope

    elements = float(n * 4 * c * size)
    before, after = make(n, 4 * c, grad=True), make(n, 4 * c)
    rate("copy", 2 * elements, 1e-9, lambda: after.copy_(before.detach()))
    rate("gelu", 2 * elements, 1e-9, lambda: functional.gelu(before, approximate="tanh"))
    y = functional.gelu(before, approximate="tanh")
    rate("gelu backward", 3 * elements, 1e-9, lambda: torch.autograd.grad(y, [before], after, retain_graph=True))
    rate("bias gradient", elements, 1e-9, lambda: after.sum(dim=0))
    del before, after, y

    weights = make(12 * c * c, kind=torch.float32, grad=True)
    weights.grad = make(12 * c * c, kind=torch.float32)
    optimizer = torch.optim.AdamW([weights], lr=1e-3, fused=True)
    rate("adamw", 7.0 * weights.numel() * 4, 1e-9, optimizer.step)


def timed(device, call, calls):
    """Seconds of so many calls, until the device has done them."""

    def done():
        if device == "cuda":
            torch.cuda.synchronize()

    done()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    done()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
