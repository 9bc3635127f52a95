package dev.troupe.bench.hop;

import dev.troupe.bench.Samples;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.aeron.AeronTransport;
import dev.troupe.transport.aeron.SharedDriver;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * What does a hop between two JVMs cost, over shared memory and over UDP? Rank 0 is in this process, rank 1 in a child,
 * which answers each burst of messages with one small message; the step of a message tells the length of its burst.
 * Prints a line for each way and size.
 */
public final class NodeHopBenchmark implements TransportListener, AutoCloseable {
    private static final Edge THERE = new Edge(0, 1, 1, MessageKind.ACTIVATION);
    private static final Edge BACK = new Edge(1, 0, 0, MessageKind.GRADIENT);
    private static final List<Integer> SIZES = List.of(4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20);
    private static final int CREDITS = 4;
    private static final int MEGABYTES = 256;
    private static final int ROUND_TRIPS = 300;
    private static final int TURNS = 5;
    private static final long TIMEOUT_SECONDS = 120;

    private final Transport transport;
    private final Engine engine;
    private final int rank;
    private final List<Tensor> buffers = new ArrayList<>();
    private final Tensor answer;
    private long landed;
    private long toSend;
    private volatile CountDownLatch burstDone = new CountDownLatch(0);

    private NodeHopBenchmark(int rank, Path directory, String otherHost, int port, int bytes) {
        this.rank = rank;
        this.engine = new CpuEngineProvider()
                .open(new EngineSettings(DataType.FLOAT32, DataType.FLOAT32, 1));
        NodeMap nodes = nodes(rank, otherHost, port);
        this.transport = AeronTransport.start(nodes, settings(directory));
        transport.register(rank, this);
        Shape shape = Shape.of(bytes / DataType.FLOAT32.elementBytes());
        for (int credit = 0; credit < CREDITS; credit++) {
            buffers.add(engine.allocate(DataType.FLOAT32, shape));
            if (rank == 1) {
                transport.grant(0, THERE, engine, buffers.getLast());
            }
        }
        this.answer = engine.allocate(DataType.FLOAT32, Shape.of(1));
        if (rank == 0) {
            transport.grant(0, BACK, engine, answer);
        }
    }

    private static NodeMap nodes(int self, String otherHost, int port) {
        return new NodeMap(self, List.of(0, 1),
                List.of(new Endpoint("127.0.0.1", port), new Endpoint(otherHost, port + 1)), Set.of(0, 1));
    }

    private static TransportSettings settings(Path directory) {
        return new TransportSettings(Optional.of(directory), true, TransportSettings.DEFAULT_TERM_LENGTH,
                Duration.ofSeconds(TIMEOUT_SECONDS));
    }

    /** Measures; with arguments this process is the child. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length > 0) {
            try (NodeHopBenchmark child = new NodeHopBenchmark(1, Path.of(arguments[0]), arguments[1],
                    Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]))) {
                System.out.println("ready " + child.rank);
                while (System.in.read() >= 0) {
                    // Waits until the parent closes the pipe.
                }
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
        try (SharedDriver own = SharedDriver.start(here, both, 0, settings(here))) {
            SharedDriver other = isOneMachine ? own : SharedDriver.start(there, both, 0, settings(there));
            Process child = child(there, otherHost, port, bytes);
            try (NodeHopBenchmark hop = new NodeHopBenchmark(0, here, otherHost, port, bytes)) {
                if (child.getInputStream().read() < 0) {
                    throw new IllegalStateException("the other process did not start");
                }
                int messages = Math.clamp(MEGABYTES * 1_000_000L / bytes, CREDITS, 20_000);
                hop.burst(messages);
                Samples rates = new Samples();
                for (int turn = 0; turn < TURNS; turn++) {
                    rates.add((double) bytes * messages / 1e9 / hop.burst(messages));
                }
                Samples micros = new Samples();
                for (int trip = 0; trip < ROUND_TRIPS; trip++) {
                    micros.add(hop.burst(1) * 1e6);
                }
                System.out.printf(Locale.ROOT, "| %s | %d KiB | %.2f | %.2f to %.2f | %,.0f |%n",
                        isOneMachine ? "shared memory" : "UDP, loopback", bytes >> 10, rates.median(), rates.least(),
                        rates.greatest(), micros.median());
            } finally {
                child.getOutputStream().close();
                if (!child.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                    child.destroyForcibly();
                }
                if (!isOneMachine) {
                    other.close();
                }
            }
        }
    }

    private static Process child(Path directory, String otherHost, int port, int bytes) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), NodeHopBenchmark.class.getName(),
                directory.toString(), otherHost, "" + port, "" + bytes));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    }

    /** Returns the seconds until {@code messages} messages have landed in the other process and its answer is here. */
    private double burst(int messages) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        burstDone = done;
        int first = Math.min(messages, buffers.size());
        synchronized (this) {
            toSend = messages - first;
        }
        long start = System.nanoTime();
        for (int index = 0; index < first; index++) {
            transport.send(new MessageId(0, messages, THERE, 0), engine, buffers.get(index));
        }
        if (!done.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no answer within " + TIMEOUT_SECONDS + " seconds");
        }
        return (System.nanoTime() - start) / 1e9;
    }

    @Override
    public void onLanded(MessageId id, Tensor tensor) {
        if (rank == 0) {
            transport.grant(0, BACK, engine, tensor);
            burstDone.countDown();
            return;
        }
        transport.grant(0, THERE, engine, tensor);
        landed++;
        if (landed == id.pass()) {
            landed = 0;
            transport.send(new MessageId(0, 0, BACK, 0), engine, answer);
        }
    }

    @Override
    public synchronized void onSent(MessageId id, Tensor tensor, long creditNanos) {
        if (rank == 0 && toSend > 0) {
            toSend--;
            transport.send(id, engine, tensor);
        }
    }

    @Override
    public void onReturned(Edge edge, Tensor tensor) {
        // Only at the end.
    }

    @Override
    public void onFault(TransportFault fault) {
        System.err.println(fault.sentence());
    }

    @Override
    public void close() {
        transport.close();
        buffers.forEach(Tensor::close);
        answer.close();
        engine.close();
    }
}
