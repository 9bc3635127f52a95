#!/usr/bin/env python3
"""Trains GPT-2 with PyTorch as `troupe train` does, and times its steps; --help says how.

One rank trains in one process and adds up the gradients of its microbatches. More ranks are a pipeline of
torch.distributed.pipelining over Gloo, one process a rank; on a GPU (--device cuda) there is one process and no pipeline,
whatever --ranks says, since Gloo would take every tensor through the host. It prints which library multiplies and how fast,
a line a step (its number, seconds and loss), and of each rank the processor time of the steps that count.

Tried with PyTorch 2.14.1. It is written for 2.6 and later, but was not run with 2.6.

The zero-bubble schedules compute the gradients of inputs and of weights apart. PyTorch's pipelining does that on the graph
of eager autograd, and this model needs no change for it. The number of microbatches must be a multiple of that of the
rounds (interleaved-zero-bubble), and a rank must have two stages (zbv). The first stage, whose inputs have no gradient,
does its whole backward as the part for the weights. torch.compile makes one operation of a backward, which cannot be split:
PyTorch refuses compiled stages under these schedules, and so does --compile.
"""

import argparse
import contextlib
import inspect
import os
import statistics
import sys
import tempfile
import time

# One arena a rank that gives nothing back to the system: a step that maps its activations anew and anew is slower.
SETTINGS = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 36), "MALLOC_ARENA_MAX": "1"}

PRODUCT = (1024, 512, 2048)  # rows, inner, columns
ZERO_BUBBLE = ["interleaved-zero-bubble", "zbv"]


def main():
    arguments = parse()
    if arguments.device == "cuda":
        arguments.ranks = 1
    if any(os.environ.get(name) != value for name, value in SETTINGS.items()):
        os.environ.update(SETTINGS)  # read by the C library when a process starts
        os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    from torch import multiprocessing

    if arguments.compile and arguments.device == "cpu":
        require_vectors()
    if arguments.ranks == 1:
        train(0, arguments, None)
    else:
        with tempfile.TemporaryDirectory() as folder:
            multiprocessing.spawn(train, (arguments, f"file://{folder}/store"), arguments.ranks)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2, help="processes of the pipeline (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="threads of each (default: %(default)s)")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--compile", action="store_true", help="with torch.compile")
    parser.add_argument("--schedule", default="1f1b", choices=["gpipe", "1f1b", "interleaved-1f1b", *ZERO_BUBBLE])
    parser.add_argument("--virtual-stages", type=int, default=1, help="stages of each rank")
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"], help="bfloat16: by autocast")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--sequence", type=int, default=256)
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--microbatch-size", type=int, default=4)
    parser.add_argument("--weights", required=True, help="a safetensors file of GPT-2 in float32, by Hugging Face's names")
    parser.add_argument("--tokens", required=True, help="a file, of which each byte is a token; read from its start on")
    parser.add_argument("--warmup", type=int, default=1, help="steps before the first that counts")
    parser.add_argument("--steps", type=int, default=3, help="steps that count")
    arguments = parser.parse_args()
    if arguments.compile and arguments.schedule in ZERO_BUBBLE:
        parser.error(f"--schedule {arguments.schedule} splits a backward, and a compiled one is whole: omit --compile")
    return arguments


def require_vectors():
    """A compiler that cannot build a test with vectors leaves them out without a word."""
    from torch._inductor import cpu_vec_isa

    if not cpu_vec_isa.pick_vec_isa():
        raise SystemExit(
            "--compile: torch.compile finds no vector instructions that its compiler can use, and would make a slow peer:"
            " install the headers of PyTorch and of SLEEF, and load SLEEF first (Debian: libtorch-dev, libsleef-dev, and"
            " LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libsleef.so.3)"
        )


def train(rank, arguments, store):
    import torch

    torch.set_num_threads(arguments.threads)
    trainer = OneProcess(arguments) if arguments.ranks == 1 else Pipeline(rank, arguments, store)
    # Without a second mention of a table that two stages of a rank share.
    parameters = list(dict.fromkeys(weight for module in trainer.modules for weight in module.parameters()))
    optimizer = torch.optim.AdamW(
        [
            {"params": [weight for weight in parameters if weight.dim() >= 2], "weight_decay": 0.1},
            {"params": [weight for weight in parameters if weight.dim() < 2], "weight_decay": 0.0},
        ],
        lr=1e-3,
        betas=(0.9, 0.95),
        eps=1e-8,
        fused=True,
    )
    if rank == 0:
        say(f"library {products(arguments)}")
    seconds = []
    for step in range(arguments.warmup + arguments.steps):
        if step == arguments.warmup:
            processor_begin = time.process_time()
        inputs, targets = batch(arguments, step)
        inputs, targets = inputs.to(arguments.device), targets.to(arguments.device)
        wait(arguments)
        begin = time.perf_counter()
        loss = trainer.accumulate(inputs, targets)
        clip(trainer, parameters)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        wait(arguments)
        seconds.append(time.perf_counter() - begin)
        if loss is not None:
            say(f"step {step} seconds {seconds[-1]:.6f} loss {loss:.6f}")
    say(f"processor seconds {time.process_time() - processor_begin:.6f}")
    if loss is not None:
        tokens = arguments.microbatches * arguments.microbatch_size * arguments.sequence
        say(f"median {tokens / statistics.median(seconds[arguments.warmup:]):.1f} tokens/s")
    trainer.close()


def say(line):
    """In one write, since ranks share the output and a line of one must not end inside another's."""
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


def wait(arguments):
    """Until the device has done what it was asked."""
    import torch

    if arguments.device == "cuda":
        torch.cuda.synchronize()


def products(arguments):
    """Which library multiplies on the CPU, and how fast one of the wide model's products is."""
    import torch

    rates = [rate(arguments, torch.float32), rate(arguments, torch.bfloat16)]
    return "PyTorch {}, {}, linked with {}: {} x {} x {} at {:.0f} GFLOP/s in float32 and {:.0f} in bfloat16".format(
        torch.__version__, torch.backends.cpu.get_cpu_capability(), blas(), *PRODUCT, *rates
    )


def blas():
    """What is in this process, and not what PyTorch was built with: a preloaded library takes the place of that."""
    import torch

    with open("/proc/self/maps") as file:
        maps = file.read()
    if torch.backends.mkl.is_available() or "libmkl_" in maps:
        return "MKL"
    return next((name for name in ("OpenBLAS", "BLIS") if f"lib{name.lower()}" in maps), "another BLAS")


def rate(arguments, data_type):
    """GFLOP/s of the fastest of some products, so that other work of the machine counts little."""
    import torch
    from torch.nn import functional

    rows, inner, columns = PRODUCT
    left = torch.ones(rows, inner, dtype=data_type, device=arguments.device)
    right = torch.ones(columns, inner, dtype=data_type, device=arguments.device)
    least = float("inf")
    with torch.no_grad():
        for _ in range(20):
            wait(arguments)
            begin = time.perf_counter()
            functional.linear(left, right)
            wait(arguments)
            least = min(least, time.perf_counter() - begin)
    return 2 * rows * inner * columns / least * 1e-9


def batch(arguments, step):
    """The sequences of a step in the sequential order of Troupe: inputs and, one further, targets, [sequences x T]."""
    import torch

    rows, length = arguments.microbatches * arguments.microbatch_size, arguments.sequence
    with open(arguments.tokens, "rb") as file:
        file.seek(step * rows * length)
        text = bytearray(file.read(rows * length + 1))
    if len(text) <= rows * length:
        raise SystemExit(f"{arguments.tokens} is too short for step {step}: it must have {rows * length} bytes a step")
    tokens = torch.frombuffer(text, dtype=torch.uint8).long()
    return tokens[:-1].view(rows, length), tokens[1:].view(rows, length)


def clip(trainer, parameters):
    """By the norm over all ranks, at 1; a table that two ranks hold counts once."""
    import torch

    norm = torch.nn.utils.get_total_norm([weight.grad for weight in parameters if weight is not trainer.second_copy])
    torch.nn.utils.clip_grads_with_norm_(parameters, 1.0, trainer.global_norm(norm))


def loss_of(microbatches):
    from torch.nn import functional

    # Divided here, so that no pass over the gradients has to.
    return lambda logits, targets: functional.cross_entropy(logits.flatten(0, 1), targets.flatten()) / microbatches


def precision(arguments):
    """Around a whole step, so that the bfloat16 copy of a weight is made once and not for each microbatch."""
    import torch

    in_bfloat16 = arguments.precision == "bfloat16"
    return torch.autocast(arguments.device, torch.bfloat16) if in_bfloat16 else contextlib.nullcontext()


class OneProcess:
    def __init__(self, arguments):
        from gpt import Stage, Weights

        self.arguments = arguments
        self.loss = loss_of(arguments.microbatches)
        self.modules = [Stage(arguments, 0, 1, Weights(arguments.weights)).to(arguments.device)]
        if arguments.compile:
            self.modules[0].compile()
        self.second_copy = None

    def accumulate(self, inputs, targets):
        total = None
        for tokens, wanted in zip(inputs.chunk(self.arguments.microbatches), targets.chunk(self.arguments.microbatches)):
            with precision(self.arguments):
                loss = self.loss(self.modules[0](tokens), wanted)
            loss.backward()
            total = loss.detach() if total is None else total + loss.detach()  # on the device: nobody waits for it here
        return total.item()

    def global_norm(self, norm):
        return norm

    def close(self):
        pass


def known(function, **options):
    """Those options that this PyTorch has: 2.6 never scales gradients, and always returns outputs."""
    return {name: value for name, value in options.items() if name in inspect.signature(function).parameters}


class Pipeline:
    """One rank r of P; it has the stages r, r + P and so on, or of a V the stages r and 2P-1-r, as in Troupe."""

    def __init__(self, rank, arguments, store):
        import torch
        from torch import distributed
        from torch.distributed import pipelining

        from gpt import Stage, Weights

        ranks = arguments.ranks
        distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=ranks)
        self.arguments = arguments
        count = ranks * arguments.virtual_stages
        is_v = arguments.schedule == "zbv"
        indices = [rank, count - 1 - rank] if is_v else range(rank, count, ranks)
        weights = Weights(arguments.weights)
        self.modules = [Stage(arguments, index, count, weights) for index in indices]
        if arguments.compile:
            for module in self.modules:
                module.compile()
        size, length = arguments.microbatch_size, arguments.sequence
        tokens = torch.zeros(size, length, dtype=torch.long)
        activation = torch.zeros(size, length, arguments.hidden, requires_grad=True)
        logits_type = torch.bfloat16 if arguments.precision == "bfloat16" else torch.float32
        logits = torch.zeros(size, length, arguments.vocabulary, dtype=logits_type, requires_grad=True)
        stages = [
            pipelining.PipelineStage(
                module,
                index,
                count,
                torch.device("cpu"),
                input_args=tokens if module.first else activation,
                output_args=logits if module.last else activation,
            )
            for index, module in zip(indices, self.modules)
        ]
        schedules = {
            "gpipe": pipelining.ScheduleGPipe,
            "1f1b": pipelining.Schedule1F1B,
            "interleaved-1f1b": pipelining.ScheduleInterleaved1F1B,
            "interleaved-zero-bubble": pipelining.ScheduleInterleavedZeroBubble,
            "zbv": pipelining.ScheduleZBVZeroBubble,
        }
        schedule = schedules[arguments.schedule]
        self.schedule = schedule(
            stages[0] if arguments.schedule in ("gpipe", "1f1b") else stages,
            arguments.microbatches,
            loss_fn=loss_of(arguments.microbatches),
            **known(schedule, scale_grads=False),
        )
        self.options = known(self.schedule.step, return_outputs=False)
        self.first, self.last = self.modules[0].first, self.modules[-1].last
        # Both ends of a V are on rank 0 and share the table. Else the first and the last rank have a copy each.
        self.second_copy, self.table = None, None
        if is_v:
            if self.last:
                self.modules[-1].tokens = self.modules[0].tokens
        else:
            self.ends = distributed.new_group([0, ranks - 1])
            self.table = next((m.tokens.weight for m in self.modules if m.first or m.last), None)
            self.second_copy = self.table if self.last else None

    def accumulate(self, inputs, targets):
        from torch import distributed

        losses = []
        with precision(self.arguments):
            self.schedule.step(
                *([inputs] if self.first else []),
                target=targets if self.last else None,
                losses=losses,
                **self.options,
            )
        if self.table is not None:
            distributed.all_reduce(self.table.grad, group=self.ends)
        return sum(loss.item() for loss in losses) if self.last else None

    def global_norm(self, norm):
        from torch import distributed

        squared = norm.square()
        distributed.all_reduce(squared)
        return squared.sqrt()

    def close(self):
        from torch import distributed

        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
