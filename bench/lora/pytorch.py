#!/usr/bin/env python3
"""Fine-tunes a Llama of SmolLM2-135M's shape with low-rank adapters in PyTorch, and times its steps; --help says how.

The network is transformers' and the adapters are PEFT's, written out: neither library is needed. Weights are drawn, so that the
same work is done as with the published ones. A line a step: its number, seconds and loss.
"""

import argparse
import statistics
import time

import torch
from torch import nn
from torch.nn import functional

# B sequences of T tokens, C hidden size, H heads, G key/value heads, V vocabulary, R rank of the adapters.
LAYERS, C, H, G, INNER, V = 30, 576, 9, 3, 1536, 49152


class Adapted(nn.Module):
    """x W' + (x A') B' alpha / R, with W frozen; PEFT's `Linear.forward` without dropout."""

    def __init__(self, inputs, outputs, rank):
        super().__init__()
        self.base = frozen(nn.Linear(inputs, outputs, bias=False))
        self.a = nn.Linear(inputs, rank, bias=False)
        self.b = nn.Linear(rank, outputs, bias=False)
        nn.init.zeros_(self.b.weight)

    def forward(self, x):
        return self.base(x) + self.b(self.a(x)) * 2.0


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(C), requires_grad=False)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))


class Block(nn.Module):
    def __init__(self, rank):
        super().__init__()
        self.norm_1, self.norm_2 = Norm(), Norm()
        self.query = Adapted(C, C, rank)
        self.key = frozen(nn.Linear(C, C // H * G, bias=False))
        self.value = Adapted(C, C // H * G, rank)
        self.output = frozen(nn.Linear(C, C, bias=False))
        self.gate, self.up = (frozen(nn.Linear(C, INNER, bias=False)) for _ in range(2))
        self.down = frozen(nn.Linear(INNER, C, bias=False))

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        normed = self.norm_1(x)
        query = rotated(self.query(normed).view(b, t, H, -1).transpose(1, 2), cos, sin)
        key = rotated(self.key(normed).view(b, t, G, -1).transpose(1, 2), cos, sin)
        value = self.value(normed).view(b, t, G, -1).transpose(1, 2)
        attended = attention(query, key.repeat_interleave(H // G, 1), value.repeat_interleave(H // G, 1))
        x = x + self.output(attended.transpose(1, 2).reshape(b, t, C))
        normed = self.norm_2(x)
        return x + self.down(functional.silu(self.gate(normed)) * self.up(normed))


class Model(nn.Module):
    def __init__(self, rank, length):
        super().__init__()
        self.table = frozen(nn.Embedding(V, C))
        self.blocks = nn.ModuleList(Block(rank) for _ in range(LAYERS))
        self.norm = Norm()
        angles = torch.outer(torch.arange(length), 100000.0 ** (-torch.arange(0, C // H, 2) / (C // H))).repeat(1, 2)
        self.cos, self.sin = angles.cos(), angles.sin()
        for name, weight in self.named_parameters():
            if not weight.requires_grad and weight.dim() == 2:
                nn.init.normal_(weight, 0, 0.02)

    def forward(self, tokens):
        x = self.table(tokens)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return functional.linear(self.norm(x), self.table.weight)


def frozen(module):
    return module.requires_grad_(False)


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def attention(query, key, value):
    if hasattr(functional, "scaled_dot_product_attention"):
        return functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    t = query.shape[2]
    scores = query @ key.transpose(2, 3) / query.shape[3] ** 0.5
    scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
    return scores.softmax(-1) @ value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--length", type=int, default=256, help="tokens of a sequence (default: %(default)s)")
    parser.add_argument("--microbatches", type=int, default=8, help="of one sequence each (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=4, help="steps that count, after one that does not")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    model = Model(arguments.rank, arguments.length)
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=3e-4, betas=(0.9, 0.95), weight_decay=0.0)
    seconds = []
    for step in range(arguments.steps + 1):
        rows = torch.randint(256, (arguments.microbatches, arguments.length + 1))
        begin = time.perf_counter()
        loss = 0.0
        for row in rows.split(1):
            logits = model(row[:, :-1])
            part = functional.cross_entropy(logits.flatten(0, 1), row[:, 1:].flatten()) / arguments.microbatches
            part.backward()
            loss += part.item()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seconds.append(time.perf_counter() - begin)
        print(f"step {step} seconds {seconds[-1]:.3f} loss {loss:.6f}", flush=True)
    tokens = arguments.microbatches * arguments.length
    print(f"PyTorch {torch.__version__}: median {tokens / statistics.median(seconds[1:]):.1f} tokens/s", flush=True)


if __name__ == "__main__":
    main()
