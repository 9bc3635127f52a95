"""Times sends of torch.distributed over Gloo between two processes, as NodeHopBenchmark times Troupe's."""
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SIZES = [4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20]


def member(rank, meeting):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)
    answer = torch.zeros(1)
    for size in SIZES:
        count = min(20_000, 256_000_000 // size)
        message = torch.zeros(size // 4)

        def burst(messages):
            start = time.perf_counter()
            for _ in range(messages):
                dist.send(message, 1) if rank == 0 else dist.recv(message, 0)
            dist.recv(answer, 1) if rank == 0 else dist.send(answer, 0)
            return time.perf_counter() - start

        burst(count)
        rates = [size * count / 1e9 / burst(count) for _ in range(5)]
        trips = [burst(1) * 1e6 for _ in range(300)]
        if rank == 0:
            print(f"| Gloo | {size >> 10} KiB | {statistics.median(rates):.2f} | {min(rates):.2f} to {max(rates):.2f} |"
                  f" {statistics.median(trips):,.0f} |", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(member, (os.path.join(folder, "meeting"),), 2)
