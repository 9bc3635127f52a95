package dev.troupe.bench.hop;

import dev.troupe.bench.MarkdownTable;
import dev.troupe.bench.PublishedFigures;
import dev.troupe.bench.Samples;
import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.config.spec.TransportSpec;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.plan.prepare.EngineChoice;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.link.LinkTransport;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The cost of a hop between two ranks of one JVM, by the size of the message. Prints the table of
 * {@code bench/transport/README.md}. Each rate is measured alternately with a plain copy of memory of the same size.
 */
@Command(name = "bench/transport/run", mixinStandardHelpOptions = true, description = {
        "Measures a hop over the transport by size of message: bytes per second and latency."})
public final class TransportBenchmark implements Callable<Integer> {
    private static final int LEAST_BYTES = 4 << 10;
    private static final int MOST_BYTES = 16 << 20;
    private static final int STEP_BETWEEN_SIZES = 4;
    private static final int MOST_MESSAGES = 20_000;
    private static final int MOST_ROUND_TRIPS = 500;
    private static final double GIGA = 1e9;
    private static final double NANOS_PER_MICRO = 1e3;

    @Option(names = "--repeats", paramLabel = "N", description = {
            "Turns of transport and copy at each size (default: ${DEFAULT-VALUE})."})
    private int repeats = 7;

    @Option(names = "--megabytes", paramLabel = "N", description = {
            "Bytes sent in one turn, in millions (default: ${DEFAULT-VALUE})."})
    private int megabytes = 256;

    @Option(names = "-s", paramLabel = "key=value", description = "As for troupe train. May be repeated.")
    private List<String> settings = List.of();

    private final PrintStream output;

    /** Prints to the standard output. */
    public TransportBenchmark() {
        this(System.out);
    }

    TransportBenchmark(PrintStream output) {
        this.output = output;
    }

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new TransportBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() throws InterruptedException {
        List<String> all = new ArrayList<>(settings);
        all.addFirst("engine.kind=cpu");
        RunSpec spec = RunSpecReader.read(Optional.empty(), all);
        MarkdownTable table = new MarkdownTable("message", "GB/s, median", "slowest to fastest", "plain copy, GB/s",
                "share of a plain copy", "one way, µs, median", "one way, µs, 99 %");
        try (Engine engine = EngineChoice
                .of(spec.engine(), DataType.FLOAT32, DataType.FLOAT32, List.of(0, 1), EngineChoice.installed())
                .open()) {
            for (int bytes = LEAST_BYTES; bytes <= MOST_BYTES; bytes *= STEP_BETWEEN_SIZES) {
                measure(spec, engine, bytes, table);
            }
        }
        output.printf(Locale.ROOT, "%n%s%nAeron alone, 4 MiB, measured elsewhere: %.1f GB/s%n", table,
                PublishedFigures.AERON_IPC_GIGABYTES_PER_SECOND);
        return 0;
    }

    private void measure(RunSpec spec, Engine engine, int bytes, MarkdownTable table) throws InterruptedException {
        int messages = Math.clamp(megabytes * 1_000_000L / bytes, 2, MOST_MESSAGES);
        Samples hop = new Samples();
        Samples copy = new Samples();
        Samples share = new Samples();
        Samples oneWayMicros = new Samples();
        try (HopPair ranks = new HopPair(transport(spec.transport()), engine, bytes, spec.transport().credits());
                Arena arena = Arena.ofConfined()) {
            MemorySegment source = arena.allocate(bytes);
            MemorySegment target = arena.allocate(bytes);
            ranks.stream(messages); // warm-up
            seconds(source, target, messages);
            for (int turn = 0; turn < repeats; turn++) {
                double rate = (double) bytes * messages / GIGA / ranks.stream(messages);
                double copyRate = (double) bytes * messages / GIGA / seconds(source, target, messages);
                hop.add(rate);
                copy.add(copyRate);
                share.add(rate / copyRate);
            }
            ranks.roundTrips(Math.min(messages, MOST_ROUND_TRIPS));
            ranks.roundTrips(Math.min(messages, MOST_ROUND_TRIPS))
                    .forEach(nanos -> oneWayMicros.add(nanos / 2 / NANOS_PER_MICRO));
        }
        table.row(size(bytes), text("%.2f", hop.median()),
                text("%.2f", hop.least()) + " to " + text("%.2f", hop.greatest()), text("%.1f", copy.median()),
                text("%.0f %%", 100 * share.median()), text("%,.0f", oneWayMicros.median()),
                text("%,.0f", oneWayMicros.quantile(0.99)));
    }

    private static Transport transport(TransportSpec spec) {
        int termLength = spec.termLengthBytes() > 0 ? spec.termLengthBytes() : TransportSettings.DEFAULT_TERM_LENGTH;
        return LinkTransport.start(NodeMap.single(2),
                new TransportSettings(spec.directory(), termLength, spec.timeout()));
    }

    private static double seconds(MemorySegment source, MemorySegment target, int messages) {
        long start = System.nanoTime();
        for (int i = 0; i < messages; i++) {
            target.copyFrom(source);
        }
        return (System.nanoTime() - start) / 1e9;
    }

    private static String size(int bytes) {
        return bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
    }

    private static String text(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
