package dev.troupe.bench.hop;

import dev.troupe.bench.Samples;
import dev.troupe.cluster.tls.MutualTls;
import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.port.DataPort;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.Network;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.aeron.AeronTransport;
import dev.troupe.transport.driver.SharedDriver;
import dev.troupe.transport.tcp.Connections;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * How fast is the path between two machines, beside a plain TCP socket? Rank 0 is in this process, rank 1 in a child of
 * another network namespace. All ways are measured by turns, and each turn is compared with the plain socket's in the
 * same round.
 */
@Command(name = "bench/network/run", mixinStandardHelpOptions = true, sortOptions = false)
public final class NetworkBenchmark implements Callable<Integer> {
    private static final int PORT = 27500;
    private static final int PORTS_OF_A_WAY = 2;
    private static final int MOST_MESSAGES = 100_000;

    @Option(names = "--label", defaultValue = "loopback", description = "The name of the network (${DEFAULT-VALUE}).")
    private String label;
    @Option(names = "--child", split = " ", description = "Words in front of the other process's command.")
    private String[] child = {};
    @Option(names = "--hosts", split = ",", defaultValue = "127.0.0.1,127.0.0.2", description = "The addresses of the two processes (${DEFAULT-VALUE}).")
    private List<String> hosts;
    @Option(names = "--kib", split = ",", defaultValue = "4,64,1024,4096,16384", description = "Sizes of messages in KiB (${DEFAULT-VALUE}).")
    private List<Integer> sizes;
    @Option(names = "--ways", split = ",", description = "Ways to measure, beside the socket (all).")
    private List<Way> ways = List.of(Way.TCP, Way.TLS, Way.UDP);
    @Option(names = "--certificates", description = "The directory of node.crt, node.key and ca.crt, for the way tls.")
    private Path certificates;
    @Option(names = "--turns", defaultValue = "7", description = "Rounds of bursts (${DEFAULT-VALUE}).")
    private int turns;
    @Option(names = "--seconds", defaultValue = "0.3", description = "The least length of a burst (${DEFAULT-VALUE}).")
    private double seconds;
    @Option(names = "--trips", defaultValue = "300", description = "Round trips of a size and way (${DEFAULT-VALUE}).")
    private int trips;
    @Option(names = "--serve", hidden = true)
    private boolean isOther;

    private enum Way {
        SOCKET, TCP, TLS, UDP
    }

    /** A way that is open, with what was measured on it. */
    private static final class Measured {
        private final Way way;
        private final Burst burst;
        private final Samples rates = new Samples();
        private final Samples ratios = new Samples();
        private final Samples micros = new Samples();
        private int messages;

        Measured(Way way, Burst burst) {
            this.way = way;
            this.burst = burst;
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
        System.out.println("| network | message | way | MB/s, median | slowest to fastest | over the socket, median |"
                + " round trip, us, median | 90 % |");
        System.out.println("|---|---|---|---|---|---|---|---|");
        for (int kib : sizes) {
            measure(kib << 10);
        }
        return 0;
    }

    private List<Way> all() {
        List<Way> all = new ArrayList<>(List.of(Way.SOCKET));
        all.addAll(ways);
        return all;
    }

    private int port(Way way) {
        return PORT + PORTS_OF_A_WAY * way.ordinal();
    }

    private NodeMap nodes(int self, Way way) {
        return new NodeMap(self, List.of(0, 1),
                List.of(new Endpoint(hosts.get(0), port(way)), new Endpoint(hosts.get(1), port(way) + 1)),
                Set.of(0, 1));
    }

    private static TransportSettings settings(Path directory, Way way) {
        return new TransportSettings(Optional.of(directory), true, TransportSettings.DEFAULT_TERM_LENGTH,
                Duration.ofSeconds(HopEnd.TIMEOUT_SECONDS), way == Way.UDP ? Network.UDP : Network.TCP);
    }

    private HopEnd end(int self, Way way, Path directory, int bytes) {
        NodeMap nodes = nodes(self, way);
        return new HopEnd(self,
                AeronTransport.start(nodes, settings(directory, way), Optional.of(connections(nodes, way))),
                bytes);
    }

    private Connections connections(NodeMap nodes, Way way) {
        Endpoint own = nodes.endpoints().get(nodes.self());
        try {
            return new Connections(nodes, DataPort.open(new InetSocketAddress(own.host(), own.port())),
                    way == Way.TLS ? Optional.of(tls()) : Optional.empty());
        } catch (IOException refused) {
            throw new UncheckedIOException(refused);
        }
    }

    private MutualTls tls() {
        if (certificates == null) {
            throw new CommandLine.ParameterException(new CommandLine(this),
                    "the way tls takes --certificates, a directory of node.crt, node.key and ca.crt");
        }
        return new MutualTls(new TlsSpec(certificates.resolve("node.crt"), certificates.resolve("node.key"),
                certificates.resolve("ca.crt")));
    }

    /** Starts the media driver of a process. */
    private SharedDriver driver(Path directory, int self) {
        return SharedDriver.start(directory, ways.stream().map(way -> nodes(self, way)).toList(), 0,
                settings(directory, Way.UDP));
    }

    private static Path directory() {
        return Path.of("/dev/shm/troupe-network-" + ProcessHandle.current().pid());
    }

    private void serve() throws IOException {
        int bytes = sizes.getFirst() << 10;
        Path directory = directory();
        PlainSocket.answer(new InetSocketAddress(hosts.get(1), port(Way.SOCKET)), bytes);
        List<HopEnd> ends = new ArrayList<>();
        try (SharedDriver _ = driver(directory, 1)) {
            try {
                for (Way way : ways) {
                    ends.add(end(1, way, directory, bytes));
                }
                OtherProcess.serve();
            } finally {
                ends.forEach(HopEnd::close);
            }
        }
    }

    private void measure(int bytes) throws IOException, InterruptedException {
        Path directory = directory();
        List<String> arguments = new ArrayList<>(
                List.of("--serve", "--hosts", String.join(",", hosts), "--kib", "" + (bytes >> 10),
                        "--ways", String.join(",", ways.stream().map(Way::name).toList())));
        if (certificates != null) {
            arguments.addAll(List.of("--certificates", certificates.toString()));
        }
        List<Measured> open = new ArrayList<>();
        try (OtherProcess other = OtherProcess.start(NetworkBenchmark.class, arguments, child);
                SharedDriver _ = driver(directory, 0)) {
            other.awaitReady();
            try {
                for (Way way : all()) {
                    open.add(new Measured(way, way == Way.SOCKET
                            ? PlainSocket.call(new InetSocketAddress(hosts.get(1), port(way)), bytes)
                            : end(0, way, directory, bytes)));
                }
                measure(open, bytes);
            } finally {
                open.forEach(one -> one.burst.close());
            }
        }
        for (Measured one : open) {
            System.out.printf(Locale.ROOT, "| %s | %,d KiB | %s | %,.0f | %,.0f to %,.0f | %.2f | %,.0f | %,.0f |%n",
                    label, bytes >> 10, one.way.name().toLowerCase(Locale.ROOT), one.rates.median(), one.rates.least(),
                    one.rates.greatest(), one.ratios.median(), one.micros.median(), one.micros.quantile(0.9));
        }
    }

    private void measure(List<Measured> open, int bytes) throws InterruptedException {
        for (Measured one : open) {
            one.messages = HopEnd.CREDITS;
            // Twice as many until a burst is long enough, and at least once before a burst counts.
            while (one.burst.seconds(one.messages) < seconds && one.messages < MOST_MESSAGES) {
                one.messages *= 2;
            }
        }
        for (int turn = 0; turn < turns; turn++) {
            for (Measured one : open) {
                one.rates.add((double) bytes * one.messages / 1e6 / one.burst.seconds(one.messages));
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
