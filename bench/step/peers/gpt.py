"""GPT-2 as Troupe trains it (Radford et al. 2019), cut into stages: norm in front, GELU in its tanh form, qkv in one product.

B sequences of T tokens, C hidden size, H heads, V vocabulary.
"""

import json
import mmap

import torch
from torch import nn
from torch.nn import functional

# The names that Hugging Face's GPT-2 has for these modules; others have the same name there.
PUBLISHED = {
    "tokens": "wte",
    "positions": "wpe",
    "norm": "ln_f",
    "qkv": "attn.c_attn",
    "attention_projection": "attn.c_proj",
    "inner": "mlp.c_fc",
    "projection": "mlp.c_proj",
}


class Weights:
    """The tensors of a safetensors file in float32."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            # A private copy of each page that is written, since PyTorch warns of memory that it may not write to.
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        header = int.from_bytes(self.data[:8], "little")
        self.entries = json.loads(self.data[8 : 8 + header])
        self.begin = 8 + header

    def tensor(self, name):
        entry = self.entries.get(name)
        if entry is None or entry["dtype"] != "F32":
            raise SystemExit(f"{self.path} must have the tensor {name} in F32, but has {entry} there")
        begin, end = entry["data_offsets"]
        flat = torch.frombuffer(self.data, dtype=torch.float32, count=(end - begin) // 4, offset=self.begin + begin)
        return flat.view(entry["shape"])


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

    def __init__(self, model, index, count, weights):
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
        self.read(weights, index * (model.layers // count))

    def read(self, weights, first_layer):
        """Takes its part of the weights; the matrix of a linear layer is [in x out] in the file."""
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                *block, module, kind = name.split(".")
                prefix = f"h.{first_layer + int(block[1])}." if block else ""
                tensor = weights.tensor(f"{prefix}{PUBLISHED.get(module, module)}.{kind}")
                parameter.copy_(tensor.T if block and tensor.dim() == 2 else tensor)

    def forward(self, x):
        if self.first:
            x = self.tokens(x) + self.positions.weight
        x = self.blocks(x)
        return functional.linear(self.norm(x), self.tokens.weight) if self.last else x
