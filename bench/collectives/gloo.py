"""Times the collectives of torch.distributed over Gloo, as GroupTimes.java times Troupe's: `gloo.py MEMBERS`."""
import os
import sys
import tempfile
import time
import warnings

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SIZES = [1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20]


def calls(size):
    return max(2, min(500, (128 << 20) // size))


def seconds(call, count):
    dist.barrier()
    start = time.perf_counter()
    for _ in range(count):
        call()
    dist.barrier()
    return (time.perf_counter() - start) / count


def member(rank, members, meeting):
    warnings.simplefilter("ignore", FutureWarning)  # names that PyTorch 2.13 renames; older ones have no other
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=members)
    for size in SIZES:
        whole = torch.zeros(size // 4)
        part = torch.zeros(size // 4 // members)
        measured = {
            "all-reduce": lambda: dist.all_reduce(whole),
            "reduce-scatter": lambda: dist.reduce_scatter_tensor(part, whole),
            "all-gather": lambda: dist.all_gather_into_tensor(whole, part),
            "broadcast": lambda: dist.broadcast(whole, 0),
        }
        for name, call in measured.items():
            seconds(call, max(2, calls(size) // 4))
            taken = seconds(call, calls(size))
            if rank == 0:
                print("measured", name, members, size, taken, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        count = int(sys.argv[1])
        mp.spawn(member, (count, os.path.join(folder, "meeting")), count)
