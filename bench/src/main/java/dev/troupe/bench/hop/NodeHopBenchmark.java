package dev.troupe.bench.hop;

import dev.troupe.bench.Samples;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import dev.troupe.transport.link.LinkTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The cost of a hop between two JVMs, over shared memory and over the network of one machine. Rank 0 is in this process,
 * rank 1 in a child. Prints a line for each way and size.
 */
public final class NodeHopBenchmark {
    private static final List<Integer> SIZES = List.of(4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20);
    private static final int MEGABYTES = 256;
    private static final int ROUND_TRIPS = 300;
    private static final int TURNS = 5;

    private NodeHopBenchmark() {
    }

    private static NodeMap nodes(int self, String otherHost, int port) {
        return new NodeMap(self, List.of(0, 1),
                List.of(new Endpoint("127.0.0.1", port), new Endpoint(otherHost, port + 1)), Set.of(0, 1));
    }

    private static TransportSettings settings(Path directory) {
        return new TransportSettings(Optional.of(directory), true, TransportSettings.DEFAULT_TERM_LENGTH,
                Duration.ofSeconds(HopEnd.TIMEOUT_SECONDS));
    }

    private static HopEnd end(int rank, Path directory, String otherHost, int port, int bytes) {
        return new HopEnd(rank, LinkTransport.start(nodes(rank, otherHost, port), settings(directory)), bytes);
    }

    /** Measures; with arguments this process is the child. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length > 0) {
            try (HopEnd _ = end(1, Path.of(arguments[0]), arguments[1], Integer.parseInt(arguments[2]),
                    Integer.parseInt(arguments[3]))) {
                OtherProcess.serve();
            }
            return;
        }
        System.out.println("| way | message | GB/s, median | slowest to fastest | round trip, us, median |");
        System.out.println("|---|---|---|---|---|");
        for (String otherHost : List.of("127.0.0.1", "127.0.0.2")) {
            for (int bytes : SIZES) {
                measure(otherHost, bytes);
            }
        }
    }

    private static void measure(String otherHost, int bytes) throws IOException, InterruptedException {
        int port = 27400;
        Path base = Path.of("/dev/shm/troupe-hop-" + ProcessHandle.current().pid());
        boolean isOneMachine = otherHost.equals("127.0.0.1");
        Path here = base.resolveSibling(base.getFileName() + "-0");
        Path there = isOneMachine ? here : base.resolveSibling(base.getFileName() + "-1");
        List<NodeMap> both = List.of(nodes(0, otherHost, port), nodes(1, otherHost, port));
        try (DriverHandle own = DriverHandle.startShared(here, both, 0, settings(here))) {
            DriverHandle other = isOneMachine ? own : DriverHandle.startShared(there, both, 0, settings(there));
            try (OtherProcess child = OtherProcess.start(NodeHopBenchmark.class,
                    List.of(there.toString(), otherHost, "" + port, "" + bytes));
                    HopEnd hop = end(0, here, otherHost, port, bytes)) {
                child.awaitReady();
                int messages = Math.clamp(MEGABYTES * 1_000_000L / bytes, HopEnd.CREDITS, 20_000);
                hop.seconds(messages);
                Samples rates = new Samples();
                for (int turn = 0; turn < TURNS; turn++) {
                    rates.add((double) bytes * messages / 1e9 / hop.seconds(messages));
                }
                Samples micros = new Samples();
                for (int trip = 0; trip < ROUND_TRIPS; trip++) {
                    micros.add(hop.seconds(1) * TimeUnit.SECONDS.toMicros(1));
                }
                System.out.printf(Locale.ROOT, "| %s | %d KiB | %.2f | %.2f to %.2f | %,.0f |%n",
                        isOneMachine ? "shared memory" : "network, loopback", bytes >> 10, rates.median(),
                        rates.least(), rates.greatest(), micros.median());
            } finally {
                if (!isOneMachine) {
                    other.close();
                }
            }
        }
    }
}
