"""GPT-2 as Troupe trains it (Radford et al. 2019), cut into stages: norm in front, GELU in its tanh form, qkv in one product.

B sequences of T tokens, C hidden size, H heads, V vocabulary.
"""

import math

import torch
from torch import nn
from torch.nn import functional

DEVIATION = 0.02


class Block(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(hidden)
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.attention_projection = nn.Linear(hidden, hidden)
        self.ln_2 = nn.LayerNorm(hidden)
        self.inner = nn.Linear(hidden, 4 * hidden)
        self.projection = nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        b, t, c = x.shape
        query, key, value = (
            part.view(b, t, self.heads, c // self.heads).transpose(1, 2)
            for part in self.qkv(self.ln_1(x)).split(c, dim=2)
        )
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.attention_projection(attended.transpose(1, 2).reshape(b, t, c))
        return x + self.projection(functional.gelu(self.inner(self.ln_2(x)), approximate="tanh"))


class Stage(nn.Module):
    """Stage `index` of `count`: tokens [B x T] into the first, logits [B x T x V] out of the last, [B x T x C] between."""

    def __init__(self, model, index, count):
        super().__init__()
        if model.layers % count:
            raise SystemExit(f"{model.layers} layers do not divide by {count} stages: change one of them")
        self.first, self.last = index == 0, index == count - 1
        if self.first:
            self.positions = nn.Embedding(model.sequence, model.hidden)
        if self.first or self.last:
            # Of a model with tied embeddings each end has a copy, and the trainer sums their gradients.
            self.tokens = nn.Embedding(model.vocabulary, model.hidden)
        self.blocks = nn.Sequential(*(Block(model.hidden, model.heads) for _ in range(model.layers // count)))
        if self.last:
            self.norm = nn.LayerNorm(model.hidden)
        self.start(model.layers, index)

    def start(self, layers, index):
        """Weights normal with deviation 0.02, those that end in the residual stream 0.02 / sqrt(2 layers), biases 0."""
        torch.manual_seed(100 + index)
        with torch.no_grad():
            for name, weight in self.named_parameters():
                if name.endswith("bias"):
                    weight.zero_()
                elif weight.dim() == 2:
                    residual = name.endswith("projection.weight")
                    weight.normal_(0, DEVIATION / math.sqrt(2 * layers) if residual else DEVIATION)
            if self.first or self.last:
                # Both ends start from the same table.
                torch.manual_seed(99)
                self.tokens.weight.normal_(0, DEVIATION)

    def forward(self, x):
        if self.first:
            x = self.tokens(x) + self.positions.weight
        x = self.blocks(x)
        return functional.linear(self.norm(x), self.tokens.weight) if self.last else x
