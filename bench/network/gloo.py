"""One process of a pair over Gloo, as NetworkBenchmark times Troupe's: `gloo.py RANK ADDRESS PORT INTERFACE`.

Process 0 reads `WHAT BYTES COUNT` from its standard input, and prints the seconds; process 1 is told by process 0.
"""
import os
import sys
import time

import torch
import torch.distributed as dist

WHATS = ["end", "hop", "all-reduce", "all-gather", "broadcast", "reduce-scatter"]
WINDOW = 4  # messages under way at a time, as many as Troupe's ends grant


def hop(rank, messages, answer, count):
    call = (lambda message: dist.isend(message, 1)) if rank == 0 else (lambda message: dist.irecv(message, 0))
    under_way = []
    for index in range(count):
        if len(under_way) == WINDOW:
            under_way.pop(0).wait()
        under_way.append(call(messages[index % WINDOW]))
    for each in under_way:
        each.wait()
    dist.recv(answer, 1) if rank == 0 else dist.send(answer, 0)


def main(rank, address, port, interface):
    os.environ["GLOO_SOCKET_IFNAME"] = interface
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://{address}:{port}", rank=rank, world_size=2)
    order = torch.zeros(3, dtype=torch.int64)
    answer = torch.zeros(1)
    while True:
        if rank == 0:
            words = sys.stdin.readline().split() or ["end", "0", "0"]
            order.copy_(torch.tensor([WHATS.index(words[0]), int(words[1]), int(words[2])]))
        dist.broadcast(order, 0)
        what, size, count = WHATS[order[0]], int(order[1]), int(order[2])
        if what == "end":
            return
        whole = torch.zeros(size // 4)
        halves = list(whole.chunk(2))
        part = torch.zeros(size // 8)
        messages = [torch.zeros(size // 4) for _ in range(WINDOW)] if what == "hop" else []
        calls = {
            "all-reduce": lambda: dist.all_reduce(whole),
            "all-gather": lambda: dist.all_gather(halves, part),
            "broadcast": lambda: dist.broadcast(whole, 0),
        }
        dist.barrier()
        start = time.perf_counter()
        if what == "hop":
            hop(rank, messages, answer, count)
        else:
            for _ in range(count):
                calls[what]()
            dist.barrier()
        if rank == 0:
            print("seconds", time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
