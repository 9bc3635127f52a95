package dev.troupe.bench;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.look.figure.PairedRatio;
import dev.troupe.plan.prepare.EngineChoice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The speed of each library of products at the shapes of a step. Prints the tables of {@code bench/products/README.md}.
 * Letters: N rows of a microbatch, C hidden size, V vocabulary.
 */
@Command(name = "bench/products/run", mixinStandardHelpOptions = true, description = {
        "Measures the matrix products of the wide and of the narrow model's step on the engine cpu by two libraries alternately, on"
                + " one thread, by the processor time of that thread."})
public final class ProductBenchmark implements Callable<Integer> {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int WARM_UPS = 3;
    /** The least operations of a round, so that small products run long enough for a clock. */
    private static final double LEAST_OPERATIONS = 1e9;

    @Option(names = "--against", paramLabel = "PRODUCTS", description = {
            "The library to compare with oneDNN, a value of engine.products (default: ${DEFAULT-VALUE})."})
    private String against = "openblas";

    @Option(names = "--rounds", paramLabel = "N", description = "Pairs of each product (default: ${DEFAULT-VALUE}).")
    private int rounds = 21;

    /** The use of a product in a layer. */
    private enum Kind {
        FORWARD, BACKWARD_INPUT, BACKWARD_WEIGHT
    }

    /** The weight of a layer, [inputs x outputs], and the number of rows it multiplies. */
    private record Layer(String name, int rows, int inputs, int outputs) {
        double operations() {
            return 2.0 * rows * inputs * outputs;
        }
    }

    /** The operands of one layer on one engine. */
    private record Operands(Engine engine, Layer layer, Tensor x, Tensor buffer, Tensor w, Tensor y,
            Tensor gradient) implements AutoCloseable {
        static Operands of(Engine engine, Layer layer) {
            Tensor buffer = filled(engine, layer.inputs, layer.outputs);
            return new Operands(engine, layer, filled(engine, layer.rows, layer.inputs), buffer,
                    engine.range(buffer, 0, Shape.of(layer.inputs, layer.outputs)),
                    filled(engine, layer.rows, layer.outputs), filled(engine, layer.inputs, layer.outputs));
        }

        private static Tensor filled(Engine engine, int rows, int columns) {
            Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(rows, columns));
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment values = arena.allocate(ValueLayout.JAVA_FLOAT, (long) rows * columns);
                for (int i = 0; i < rows * columns; i++) {
                    values.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) (Math.sin(i) / columns));
                }
                engine.copyFromHost(values, tensor, 0);
            }
            return tensor;
        }

        /** Returns the processor time of one product, in seconds. */
        double seconds(Kind kind) {
            int repeats = (int) Math.ceil(LEAST_OPERATIONS / layer.operations());
            long start = THREADS.getCurrentThreadCpuTime();
            for (int i = 0; i < repeats; i++) {
                switch (kind) {
                    case FORWARD -> engine.matmul(x, false, w, false, y, false);
                    case BACKWARD_INPUT -> engine.matmul(y, false, w, true, x, false);
                    case BACKWARD_WEIGHT -> engine.matmul(x, true, y, false, gradient, false);
                }
            }
            return (THREADS.getCurrentThreadCpuTime() - start) / 1e9 / repeats;
        }

        @Override
        public void close() {
            List.of(x, buffer, y, gradient).forEach(Tensor::close);
        }
    }

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new ProductBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() {
        EngineProvider cpu = EngineChoice.installed().stream().filter(provider -> provider.kind().equals("cpu"))
                .findFirst().orElseThrow();
        System.out.println(cpu.description() + "\n");
        MarkdownTable table = new MarkdownTable("layer", "product", "oneDNN, GFLOP/s", against + ", GFLOP/s",
                "times as fast as oneDNN", "95 % of it");
        EngineSettings one = new EngineSettings(DataType.FLOAT32, 1);
        try (Engine own = cpu.open(one); Engine other = cpu.open(one.withProducts(against))) {
            for (Layer layer : layers()) {
                for (Kind kind : Kind.values()) {
                    row(table, layer, kind, own, other);
                }
            }
        }
        System.out.print(table);
        return 0;
    }

    private static List<Layer> layers() {
        List<Layer> layers = new ArrayList<>();
        layers.addAll(of("wide", 1024, 512, 4096));
        layers.addAll(of("narrow", 256, 128, 256));
        return layers;
    }

    private static List<Layer> of(String model, int n, int c, int v) {
        return List.of(new Layer(model + " qkv", n, c, 3 * c), new Layer(model + " projection", n, c, c),
                new Layer(model + " up", n, c, 4 * c), new Layer(model + " down", n, 4 * c, c),
                new Layer(model + " head", n, c, v));
    }

    private void row(MarkdownTable table, Layer layer, Kind kind, Engine own, Engine other) {
        List<Double> ownSeconds = new ArrayList<>();
        List<Double> otherSeconds = new ArrayList<>();
        try (Operands first = Operands.of(own, layer); Operands second = Operands.of(other, layer)) {
            for (int round = -WARM_UPS; round < rounds; round++) {
                boolean isSwapped = round % 2 != 0;
                double early = (isSwapped ? second : first).seconds(kind);
                double late = (isSwapped ? first : second).seconds(kind);
                if (round >= 0) {
                    ownSeconds.add(isSwapped ? late : early);
                    otherSeconds.add(isSwapped ? early : late);
                }
            }
        }
        PairedRatio ratio = PairedRatio.of(ownSeconds, otherSeconds);
        table.row(layer.name, kind.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                gigaflops(layer, ownSeconds), gigaflops(layer, otherSeconds),
                String.format(Locale.ROOT, "%.2f", ratio.median()),
                String.format(Locale.ROOT, "%.2f to %.2f", ratio.low(), ratio.high()));
    }

    private static String gigaflops(Layer layer, List<Double> seconds) {
        double median = seconds.stream().sorted().skip(seconds.size() / 2).findFirst().orElseThrow();
        return String.format(Locale.ROOT, "%.0f", layer.operations() / median / 1e9);
    }
}
