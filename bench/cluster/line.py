"""A network line between two namespaces: rate, delay and random loss, by two TUN devices and this process.

Linux's netem does the same where the kernel has it; kernels of containers often do not. Packets are of at most 1,500 bytes,
as on Ethernet. Each direction sends a packet when the one before it has been sent at the rate, drops a packet that would
wait longer than the queue, and delivers it after the delay. Needs root. Ends with its standard input.

    line.py --rate 80e6 --delay 0.04 --loss 0.001 --seed 1 SPACE:DEVICE:ADDRESS:PEER SPACE:DEVICE:ADDRESS:PEER [...]

Each pair of ends is a line; ADDRESS is this end's own, to which PEER's packets go. Prints "ready" when the devices are up,
and at the end, for each direction, its packets, bytes, drops of the queue and losses.
"""

import argparse
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
OWN_SPACE = os.open("/proc/self/ns/net", os.O_RDONLY)


def enter(path):
    with open(path) as space:
        if libc.setns(space.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), path)


def device(end, congestion):
    """Opens the TUN device of an end in the end's namespace, with the route to its peer."""
    space, name, address, peer = end.split(":")
    enter(f"/var/run/netns/{space}")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    for command in (f"link set {name} up mtu 1500 txqueuelen 10000", f"route add {peer} dev {name} src {address} congctl {congestion}"):
        subprocess.run(["ip", *command.split()], check=True)
    libc.setns(OWN_SPACE, CLONE_NEWNET)
    return tun


class Direction:
    def __init__(self, name, source, target, asked, seed):
        self.name, self.source, self.target, self.asked = name, source, target, asked
        self.random = random.Random(seed)
        self.free_at = 0.0
        self.packets = self.bytes = self.dropped = self.lost = 0

    def take(self, now, due, number):
        """Reads the packets that wait at the source, and puts them on the line."""
        while True:
            try:
                packet = os.read(self.source, 2048)
            except BlockingIOError:
                return
            self.packets += 1
            begins = max(now, self.free_at)
            if begins - now > self.asked.queue:
                self.dropped += 1
                continue
            self.free_at = begins + 8 * len(packet) / self.asked.rate
            self.bytes += len(packet)
            if self.random.random() < self.asked.loss:
                self.lost += 1
                continue
            heapq.heappush(due, (self.free_at + self.asked.delay, next(number), self, packet))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, required=True, help="bits a second")
    parser.add_argument("--delay", type=float, default=0, help="seconds, one way")
    parser.add_argument("--loss", type=float, default=0, help="part of the packets")
    parser.add_argument("--queue", type=float, default=0.2, help="the longest wait for the line, in seconds")
    parser.add_argument("--congestion", default="bbr", help="congestion control of TCP: bbr, cubic, ...")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("ends", nargs="+")
    asked = parser.parse_args()
    directions = {}
    for i in range(0, len(asked.ends), 2):
        one, other = asked.ends[i:i + 2]
        a, b = device(one, asked.congestion), device(other, asked.congestion)
        directions[a] = Direction(one.split(":")[0] + " -> " + other.split(":")[0], a, b, asked, asked.seed + 2 * i)
        directions[b] = Direction(other.split(":")[0] + " -> " + one.split(":")[0], b, a, asked, asked.seed + 2 * i + 1)
    print("ready", flush=True)
    due, number = [], iter(range(1 << 62))
    poller = select.epoll()
    for source in directions:
        poller.register(source, select.EPOLLIN)
    poller.register(0, select.EPOLLIN | select.EPOLLHUP)
    while True:
        wait = max(0.0, due[0][0] - time.monotonic()) if due else 1.0
        for source, _ in poller.poll(wait):
            if source == 0:
                if not os.read(0, 4096):
                    for line in directions.values():
                        print(f"{line.name}: {line.packets} packets, {line.bytes} bytes, {line.dropped} dropped by the "
                              f"queue, {line.lost} lost")
                    return
                continue
            directions[source].take(time.monotonic(), due, number)
        now = time.monotonic()
        while due and due[0][0] <= now:
            _, _, line, packet = heapq.heappop(due)
            try:
                os.write(line.target, packet)
            except OSError:
                line.dropped += 1


if __name__ == "__main__":
    sys.exit(main())
