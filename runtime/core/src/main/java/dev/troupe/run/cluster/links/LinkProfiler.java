package dev.troupe.run.cluster.links;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.profile.LinkSamples;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.run.cluster.machine.MachineDriver;
import dev.troupe.run.cluster.machine.Ports;
import dev.troupe.run.cluster.tls.MutualTls;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.FrameHook;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import dev.troupe.transport.link.LinkTransport;
import dev.troupe.transport.tcp.Connections;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The measurement of the ways between all nodes of a cluster, one direction after the other. Each node runs it at the same
 * time, with the transport, the engine and the size of messages of a run, and each ends with the samples of all directions.
 * No weights travel, so nodes have no key in common; TLS is as configured.
 */
public final class LinkProfiler {
    private static final Logger LOG = LoggerFactory.getLogger(LinkProfiler.class);
    private static final int WARM_UPS = 3;
    private static final int LEAST_LATENCIES = 10;
    private static final int MOST_LATENCIES = 50;
    private static final int LEAST_BURSTS = 5;
    private static final int MOST_BURSTS = 20;
    private static final int WINDOWS_OF_A_BURST = 4;
    private static final long NANOS = 1_000_000_000L;
    private static final Duration MOST_OF_A_CLOSE = Duration.ofMinutes(1);
    /** More than the measurement of one direction over a slow link takes. */
    private static final Duration MOST_OF_A_DIRECTION = Duration.ofMinutes(10);
    private static final long OVER = 0;

    private final LinkExchange exchange;
    private final List<String> names;
    private final int self;
    private final long messageBytes;
    private final int burst;

    private LinkProfiler(LinkExchange exchange, List<String> names, int self, long messageBytes, int credits) {
        this.exchange = exchange;
        this.names = names;
        this.self = self;
        this.messageBytes = messageBytes;
        this.burst = WINDOWS_OF_A_BURST * credits;
    }

    /**
     * Measures with the other nodes.
     *
     * @param run the run as this node plans it
     * @throws dev.troupe.plan.UsageException if a port is taken, or another node does not run it within
     *     {@code cluster.join-timeout}
     */
    public static List<LinkSamples> measure(PlannedRun run, NodeSpec self) throws InterruptedException {
        ClusterSpec cluster = run.spec().cluster().orElseThrow();
        Path driver = MachineDriver.directory(run.spec(), cluster, self.host());
        Path directory = driver.resolveSibling(driver.getFileName() + "-profile"); // a run may be in progress
        TransportSettings settings = MachineDriver.settings(run, directory);
        List<NodeMap> here = cluster.nodesOn(self.host()).stream().map(node -> map(cluster, node)).toList();
        Optional<DriverHandle> own = MachineDriver.find(cluster, self, directory,
                () -> DriverHandle.startShared(directory, here, 0, settings));
        try {
            return measured(run, cluster, self, settings);
        } finally {
            own.ifPresent(LinkProfiler::close);
        }
    }

    /** The nodes of this machine use its driver until they have the last answer. */
    private static void close(DriverHandle driver) {
        long deadline = System.nanoTime() + MOST_OF_A_CLOSE.toNanos();
        while (driver.hasClients() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        driver.close();
    }

    /** Each node has one rank, with its own number, and exchanges messages with all others. */
    private static NodeMap map(ClusterSpec cluster, NodeSpec self) {
        List<Integer> nodes = IntStream.range(0, cluster.nodes().size()).boxed().toList();
        return new NodeMap(cluster.indexOf(self.name()), nodes,
                cluster.nodes().stream().map(node -> new Endpoint(node.host(), node.dataPort())).toList(),
                Set.copyOf(nodes));
    }

    private static List<LinkSamples> measured(PlannedRun run, ClusterSpec cluster, NodeSpec self,
            TransportSettings settings) throws InterruptedException {
        NodeMap nodes = map(cluster, self);
        List<String> names = cluster.nodes().stream().map(NodeSpec::name).toList();
        int credits = run.spec().transport().credits();
        DataType type = run.engine().settings().computeType();
        long messageBytes = run.plan().boundaryBytes(type);
        try (Engine engine = run.engine().open();
                LinkExchange exchange = new LinkExchange(names, nodes.self(), transport(cluster, self, nodes, settings),
                        engine, Shape.of(Math.toIntExact(messageBytes / type.elementBytes())), credits,
                        cluster.joinTimeout())) {
            return new LinkProfiler(exchange, names, nodes.self(), messageBytes, credits).measure();
        }
    }

    private static Transport transport(ClusterSpec cluster, NodeSpec self, NodeMap nodes, TransportSettings settings) {
        if (!LinkTransport.needsConnections(nodes, settings)) {
            return LinkTransport.start(nodes, settings);
        }
        try {
            DataPort port = DataPort.open(new InetSocketAddress(self.host(), self.dataPort()), RunKey.open());
            return LinkTransport.start(nodes, settings,
                    Optional.of(new Connections(nodes, port, cluster.tls().map(MutualTls::new))), FrameHook.NONE);
        } catch (IOException taken) {
            throw Ports.refused(self, "data-port", self.dataPort(), taken);
        }
    }

    private List<LinkSamples> measure() throws InterruptedException {
        meet();
        exchange.waitAtMost(MOST_OF_A_DIRECTION);
        List<LinkSamples> all = new ArrayList<>();
        for (int from = 0; from < names.size(); from++) {
            for (int to = 0; to < names.size(); to++) {
                if (to != from) {
                    all.add(direction(from, to));
                }
            }
        }
        exchange.waitAtMost(MOST_OF_A_CLOSE);
        try {
            meet(); // so that no node closes while another one waits for its numbers
            exchange.awaitSent();
        } catch (UsageException gone) {
            LOG.debug("another node has closed first, and all samples are here", gone);
        }
        return all;
    }

    /** All nodes take the directions in the same order, and each waits for the samples of one before the next. */
    private LinkSamples direction(int from, int to) throws InterruptedException {
        if (self != from) {
            if (self == to) {
                answer(from);
            }
            return new LinkSamples(names.get(from), names.get(to), messageBytes, numbersOf(from), numbersOf(from));
        }
        LinkSamples samples = lead(to);
        for (int node = 0; node < names.size(); node++) {
            if (node != self) {
                numbers(node, samples.latencyNanos());
                numbers(node, samples.bytesPerSecond());
            }
        }
        return samples;
    }

    private void numbers(int to, List<Long> numbers) throws InterruptedException {
        exchange.signal(to, numbers.size());
        for (long number : numbers) {
            exchange.signal(to, number);
        }
    }

    private List<Long> numbersOf(int from) throws InterruptedException {
        List<Long> numbers = new ArrayList<>();
        for (long left = exchange.signalOf(from); left > 0; left--) {
            numbers.add(exchange.signalOf(from));
        }
        return numbers;
    }

    private void meet() throws InterruptedException {
        for (int node = 0; node < names.size(); node++) {
            if (node != self) {
                exchange.signal(node, OVER);
            }
        }
        for (int node = 0; node < names.size(); node++) {
            if (node != self) {
                exchange.signalOf(node);
            }
        }
    }

    private LinkSamples lead(int to) throws InterruptedException {
        for (int round = 0; round < WARM_UPS; round++) {
            answered(to, burst);
        }
        List<Long> roundTrips = new ArrayList<>();
        long began = System.nanoTime();
        while (roundTrips.size() < LEAST_LATENCIES
                || roundTrips.size() < MOST_LATENCIES && System.nanoTime() - began < NANOS) {
            roundTrips.add(answered(to, 0));
        }
        long roundTrip = roundTrips.stream().sorted().toList().get(roundTrips.size() / 2);
        List<Long> rates = new ArrayList<>();
        began = System.nanoTime();
        while (rates.size() < LEAST_BURSTS || rates.size() < MOST_BURSTS && System.nanoTime() - began < NANOS) {
            rates.add(Math.round(1e9 * burst * messageBytes / Math.max(1, answered(to, burst) - roundTrip)));
        }
        exchange.signal(to, OVER);
        return new LinkSamples(names.get(self), names.get(to), messageBytes,
                roundTrips.stream().map(nanos -> nanos / 2).toList(), rates);
    }

    /** Returns the time until the other node has answered a number of messages. */
    private long answered(int to, int messages) throws InterruptedException {
        long start = System.nanoTime();
        exchange.signal(to, 1L + messages);
        for (int message = 0; message < messages; message++) {
            exchange.message(to);
        }
        exchange.signalOf(to);
        return System.nanoTime() - start;
    }

    private void answer(int from) throws InterruptedException {
        for (long number = exchange.signalOf(from); number != OVER; number = exchange.signalOf(from)) {
            for (long message = 1; message < number; message++) {
                exchange.awaitMessage(from);
            }
            exchange.signal(from, number);
        }
    }
}
