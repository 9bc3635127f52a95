package dev.troupe.bench.hop;

import dev.troupe.bench.Samples;
import dev.troupe.bench.hop.NetworkWays.Way;
import dev.troupe.transport.driver.DriverHandle;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The speed of the path between two machines, compared with a plain TCP socket and Gloo. Rank 0 is in this process, rank 1
 * in a child in another network namespace. All ways are measured alternately, and each result is compared with the first
 * way's of the same round.
 */
@Command(name = "bench/network/run", mixinStandardHelpOptions = true, sortOptions = false)
public final class NetworkBenchmark implements Callable<Integer> {
    private static final int MOST_COUNT = 100_000;

    @Option(names = "--label", defaultValue = "loopback", description = "The name of the network (${DEFAULT-VALUE}).")
    private String label;
    @Option(names = "--child", split = " ", description = "Words in front of the other process's command.")
    private String[] child = {};
    @Option(names = "--hosts", split = ",", defaultValue = "127.0.0.1,127.0.0.2", description = "The addresses of the two processes (${DEFAULT-VALUE}).")
    private List<String> hosts;
    @Option(names = "--what", split = ",", defaultValue = NetworkWays.HOP, description = "hop, all-reduce, reduce-scatter, all-gather, broadcast (${DEFAULT-VALUE}).")
    private List<String> whats;
    @Option(names = "--kib", split = ",", defaultValue = "4,64,1024,4096,16384", description = "Sizes of messages, or of the whole of a collective, in KiB (${DEFAULT-VALUE}).")
    private List<Integer> sizes;
    @Option(names = "--ways", split = ",", description = "Ways to measure: socket and window (one with as few messages in flight as Troupe; both a hop only), gloo, tcp, tls, udp (socket, tcp, tls, udp); the first is compared with.")
    private List<Way> ways = List.of(Way.SOCKET, Way.TCP, Way.TLS, Way.UDP);
    @Option(names = "--certificates", description = "The directory of node.crt, node.key and ca.crt, for the way tls.")
    private Path certificates;
    @Option(names = "--turns", defaultValue = "7", description = "Rounds of bursts (${DEFAULT-VALUE}).")
    private int turns;
    @Option(names = "--seconds", defaultValue = "0.3", description = "The least length of a burst (${DEFAULT-VALUE}).")
    private double seconds;
    @Option(names = "--warm-up", defaultValue = "1.5", description = "The least time of a way before its bursts count, in seconds (${DEFAULT-VALUE}).")
    private double warmUp;
    @Option(names = "--trips", defaultValue = "300", description = "Round trips of a size and way (${DEFAULT-VALUE}).")
    private int trips;
    @Option(names = "--python", defaultValue = "/usr/bin/python3", description = "A Python with PyTorch, for the way gloo (${DEFAULT-VALUE}).")
    private String python;
    @Option(names = "--script", hidden = true)
    private Path script = Path.of("bench/network/gloo.py");
    @Option(names = "--interface", defaultValue = "lo", description = "The network interface of the way gloo (${DEFAULT-VALUE}).")
    private String networkInterface;
    @Option(names = "--serve", hidden = true)
    private boolean isOther;

    /** An open way with its measurements. */
    private static final class Measured {
        private final Way way;
        private final Burst burst;
        private final List<ProcessHandle> processes;
        private final Samples rates = new Samples();
        private final Samples ratios = new Samples();
        private final Samples micros = new Samples();
        private Duration worked = Duration.ZERO;
        private double bytes;
        private int count = HopEnd.CREDITS;

        Measured(Way way, Burst burst, List<ProcessHandle> ours) {
            this.way = way;
            this.burst = burst;
            this.processes = burst.processes().isEmpty() ? ours : burst.processes();
        }

        private Duration worked() {
            return processes.stream().map(process -> process.info().totalCpuDuration().orElse(Duration.ZERO))
                    .reduce(Duration.ZERO, Duration::plus);
        }
    }

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new NetworkBenchmark()).setCaseInsensitiveEnumValuesAllowed(true)
                .execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (isOther) {
            serve();
            return 0;
        }
        System.out.println(
                "| network | what | size | way | MB/s, median | slowest to fastest | over the first way, median |"
                        + " processor, s/GB | one at a time, us, median | 90 % |");
        System.out.println("|---|---|---|---|---|---|---|---|---|---|");
        for (String what : whats) {
            for (int kib : sizes) {
                measure(what, kib << 10);
            }
        }
        return 0;
    }

    private NetworkWays ways(int self) {
        return new NetworkWays(self, hosts, Optional.ofNullable(certificates),
                Path.of("/dev/shm/troupe-network-" + ProcessHandle.current().pid()));
    }

    private void serve() throws IOException {
        String what = whats.getFirst();
        int bytes = sizes.getFirst() << 10;
        NetworkWays here = ways(1);
        for (Way way : ways.stream().filter(Way::isSocket).toList()) {
            PlainSocket.answer(new InetSocketAddress(hosts.get(1), NetworkWays.port(way)), bytes);
        }
        List<Burst> ends = new ArrayList<>();
        try (DriverHandle _ = here.driver(ways)) {
            try {
                for (Way way : ways) {
                    if (way.isTroupe() && what.equals(NetworkWays.HOP)) {
                        ends.add(here.open(way, what, bytes));
                    } else if (way.isTroupe()) {
                        GroupEnd end = here.group(way, what, bytes);
                        ends.add(end);
                        Thread.ofPlatform().daemon().start(end::serve);
                    }
                }
                OtherProcess.serve();
            } finally {
                ends.forEach(Burst::close);
            }
        }
    }

    private void measure(String what, int bytes) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(
                List.of("--serve", "--hosts", String.join(",", hosts), "--what", what, "--kib", "" + (bytes >> 10),
                        "--ways", String.join(",", ways.stream().map(Way::name).toList())));
        if (certificates != null) {
            arguments.addAll(List.of("--certificates", certificates.toString()));
        }
        NetworkWays here = ways(0);
        List<Measured> open = new ArrayList<>();
        try (OtherProcess other = OtherProcess.start(NetworkBenchmark.class, arguments, child);
                DriverHandle _ = here.driver(ways)) {
            other.awaitReady();
            List<ProcessHandle> ours = List.of(ProcessHandle.current(), other.handle());
            try {
                for (Way way : ways) {
                    open.add(new Measured(way, open(here, way, what, bytes), ours));
                }
                measure(open, bytes);
            } finally {
                open.forEach(one -> one.burst.close());
            }
        }
        for (Measured one : open) {
            System.out.printf(Locale.ROOT,
                    "| %s | %s | %,d KiB | %s | %,.0f | %,.0f to %,.0f | %.2f | %.2f | %,.0f | %,.0f |%n", label, what,
                    bytes >> 10, one.way.name().toLowerCase(Locale.ROOT), one.rates.median(), one.rates.least(),
                    one.rates.greatest(), one.ratios.median(), one.worked.toNanos() / one.bytes,
                    one.micros.median(), one.micros.quantile(0.9));
        }
    }

    private Burst open(NetworkWays here, Way way, String what, int bytes) throws IOException {
        return switch (way) {
            case SOCKET, WINDOW -> PlainSocket.call(new InetSocketAddress(hosts.get(1), NetworkWays.port(way)), bytes,
                    way == Way.WINDOW);
            case GLOO -> new GlooPair(what, bytes, GlooPair.command(python, script), hosts.get(0),
                    NetworkWays.port(way), networkInterface, child);
            case TCP, TLS, UDP -> here.open(way, what, bytes);
        };
    }

    private void measure(List<Measured> open, int bytes) throws InterruptedException {
        for (Measured one : open) {
            // The count doubles until a burst is long enough, which also gives the compiler time.
            double latest = one.burst.seconds(one.count);
            double total = latest;
            while (latest < seconds && one.count < MOST_COUNT || total < warmUp) {
                one.count *= latest < seconds && one.count < MOST_COUNT ? 2 : 1;
                latest = one.burst.seconds(one.count);
                total += latest;
            }
        }
        for (int turn = 0; turn < turns; turn++) {
            for (Measured one : open) {
                Duration before = one.worked();
                one.rates.add((double) bytes * one.count / 1e6 / one.burst.seconds(one.count));
                one.worked = one.worked.plus(one.worked().minus(before));
                one.bytes += (double) bytes * one.count;
                one.ratios.add(one.rates.latest() / open.getFirst().rates.latest());
            }
            for (Measured one : open) {
                for (int trip = 0; trip < Math.ceilDiv(trips, turns); trip++) {
                    one.micros.add(one.burst.seconds(1) * 1e6);
                }
            }
        }
    }
}
