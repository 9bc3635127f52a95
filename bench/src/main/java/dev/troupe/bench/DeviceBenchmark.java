package dev.troupe.bench;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.plan.prepare.EngineChoice;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The time of a device for each kernel of a block of GPT-2. Each kernel is called many times, and a read of one number at
 * the end waits for all calls, so the time is right even if calls return early. The output has a line for each kernel,
 * separated by tabs: name, microseconds, and 10^12 operations or 10^9 bytes per second.
 *
 * <p>N = B T rows; C hidden size, V vocabulary. The bytes of a kernel are the sizes of the tensors that it reads and writes,
 * each counted once.
 */
@Command(name = "bench/gpu/kernels", mixinStandardHelpOptions = true, description = {
        "Times the kernels of a block of GPT-2 on a device."})
public final class DeviceBenchmark implements Callable<Integer> {
    private static final AdamW UPDATE = new AdamW(1e-3, 0.9, 0.95, 1e-8, 0.1, 1, 1);
    private static final double EPSILON = 1e-5;
    private static final int NOISE = 1 << 20;
    private static final float SPREAD = 0.1f;
    private static final int WARM_UP = 3;
    private static final long ENOUGH_NANOS = 200_000_000;

    @Option(names = "--engine", paramLabel = "KIND", description = "The engine (default: ${DEFAULT-VALUE}).")
    private String kind = "cuda";

    @Option(names = "--precision", paramLabel = "NAME", description = "bfloat16 or float32 (default: ${DEFAULT-VALUE}).")
    private String precision = "bfloat16";

    @Option(names = "--products", paramLabel = "NAME", description = {
            "The library of matrix products, a value of engine.products (default: the engine's own)."})
    private String library = EngineSettings.OWN_PRODUCTS;

    @Option(names = "--sequences", paramLabel = "B", description = "Sequences of a microbatch (default: ${DEFAULT-VALUE}).")
    private int b = 16;

    @Option(names = "--sequence", paramLabel = "T", description = "Tokens of each (default: ${DEFAULT-VALUE}).")
    private int t = 1024;

    @Option(names = "--hidden", paramLabel = "C", description = "Hidden size (default: ${DEFAULT-VALUE}).")
    private int c = 768;

    @Option(names = "--heads", paramLabel = "H", description = "Attention heads (default: ${DEFAULT-VALUE}).")
    private int h = 12;

    @Option(names = "--vocabulary", paramLabel = "V", description = "Vocabulary (default: ${DEFAULT-VALUE}).")
    private int v = 50304;

    private final PrintStream output;
    private Engine engine;
    private DataType products;
    private Tensor probe;
    private final MemorySegment reached = MemorySegment.ofArray(new float[1]);
    private Tensor noise;
    /** The same numbers in the type of products. */
    private Tensor rounded;

    public DeviceBenchmark() {
        this(System.out);
    }

    DeviceBenchmark(PrintStream output) {
        this.output = output;
    }

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new DeviceBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() {
        products = DataType.valueOf(precision.toUpperCase(Locale.ROOT));
        EngineProvider provider = EngineChoice.installed().stream().filter(any -> any.kind().equals(kind)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no engine " + kind));
        try (Engine opened = provider.open(new EngineSettings(DataType.FLOAT32, products, 1).withProducts(library))) {
            engine = opened;
            probe = engine.allocate(DataType.FLOAT32, Shape.of(1));
            makeNoise();
            products();
            attention();
            norms();
            elements();
        }
        return 0;
    }

    /** The products of a linear layer: forward, gradient of the input, gradient of the weights. */
    private void products() {
        int n = b * t;
        product("qkv", n, c, 3 * c);
        product("out", n, c, c);
        product("inner", n, c, 4 * c);
        product("outer", n, 4 * c, c);
        product("head", n, c, v);
    }

    private void product(String name, int n, int k, int m) {
        double operations = 2.0 * n * k * m;
        try (Tensor x = wide(n, k); Tensor weight = wide(k, m); Tensor y = wide(n, m); Tensor gradient = floats(k, m)) {
            rate("product " + name, operations, () -> engine.matmul(x, false, weight, false, y, false));
            rate("input gradient " + name, operations, () -> engine.matmul(y, false, weight, true, x, false));
            rate("weight gradient " + name, operations, () -> engine.matmul(x, true, y, false, gradient, true));
        }
    }

    /** Counts useful operations only: the half of the scores below the diagonal. */
    private void attention() {
        int n = b * t;
        double operations = 2.0 * n * t * c;
        try (Tensor qkv = wide(n, 3 * c);
                Tensor y = wide(n, c);
                Tensor dy = wide(n, c);
                Tensor dQkv = wide(n, 3 * c);
                Tensor state = engine.allocate(DataType.FLOAT32, engine.attentionStateShape(b, t, h))) {
            rate("attention", operations, () -> engine.causalAttention(qkv, t, h, state, y));
            rate("attention backward", 2.5 * operations,
                    () -> engine.causalAttentionBackward(dy, qkv, y, state, t, h, dQkv));
        }
    }

    private void norms() {
        int n = b * t;
        double bytes = (double) n * c * products.elementBytes();
        try (Tensor x = wide(n, c);
                Tensor y = wide(n, c);
                Tensor gamma = floats(c);
                Tensor beta = floats(c);
                Tensor mean = floats(n);
                Tensor deviation = floats(n)) {
            rate("layer norm", 2 * bytes, () -> engine.layerNorm(null, x, gamma, beta, EPSILON, y, mean, deviation));
            rate("layer norm backward", 3 * bytes,
                    () -> engine.layerNormBackwardInput(y, x, gamma, mean, deviation, y, false));
            rate("layer norm weights", 2 * bytes,
                    () -> engine.layerNormBackwardWeight(y, x, mean, deviation, gamma, beta));
        }
    }

    private void elements() {
        int n = b * t;
        double bytes = (double) n * 4 * c * products.elementBytes();
        try (Tensor before = wide(n, 4 * c); Tensor after = wide(n, 4 * c); Tensor bias = floats(4 * c)) {
            rate("copy", 2 * bytes, () -> engine.copy(before, after));
            rate("gelu", 2 * bytes, () -> engine.gelu(before, after));
            rate("gelu backward", 3 * bytes, () -> engine.geluBackward(before, after, after));
            rate("bias gradient", bytes, () -> engine.biasBackward(after, bias));
        }
        int weights = 12 * c * c;
        try (Tensor parameters = floats(weights);
                Tensor gradients = floats(weights);
                Tensor first = floats(weights);
                Tensor second = floats(weights)) {
            rate("adamw", 7.0 * weights * Float.BYTES,
                    () -> engine.adamW(parameters, gradients, first, second, UPDATE));
        }
    }

    private Tensor wide(int rows, int columns) {
        return noisy(products, rows, columns);
    }

    private Tensor floats(int... sizes) {
        return noisy(DataType.FLOAT32, sizes);
    }

    /** Random numbers, since a device that multiplies zeros takes less power and is faster. */
    private Tensor noisy(DataType type, int... sizes) {
        Tensor tensor = engine.allocate(type, Shape.of(sizes));
        Tensor source = type == DataType.FLOAT32 ? noise : rounded;
        long count = tensor.shape().elementCount();
        for (long first = 0; first < count; first += NOISE) {
            Shape part = Shape.of((int) Math.min(NOISE, count - first));
            engine.copy(engine.range(source, 0, part), engine.range(tensor, first, part));
        }
        return tensor;
    }

    private void makeNoise() {
        Random random = new Random(1);
        float[] numbers = new float[NOISE];
        for (int i = 0; i < NOISE; i++) {
            numbers[i] = SPREAD * (float) random.nextGaussian();
        }
        noise = engine.allocate(DataType.FLOAT32, Shape.of(NOISE));
        engine.copyFromHost(MemorySegment.ofArray(numbers), noise, 0);
        rounded = engine.allocate(products, Shape.of(NOISE));
        engine.cast(noise, rounded);
    }

    /**
     * Prints the time and the rate of a kernel. Its work is in operations or in bytes, as {@link #scale} assumes by name.
     */
    private void rate(String name, double work, Runnable kernel) {
        time(kernel, WARM_UP);
        long once = Math.max(1, time(kernel, 1));
        int calls = Math.clamp(ENOUGH_NANOS / once, 1, 1000);
        double nanos = (double) time(kernel, calls) / calls;
        output.printf(Locale.ROOT, "%s\t%.1f\t%.1f%n", name, nanos / 1e3, work / nanos * scale(name));
    }

    /** The work of products and attention is in operations, of all other kernels in bytes. */
    private static double scale(String name) {
        return name.startsWith("product") || name.contains("gradient ") || name.startsWith("attention") ? 1e-3 : 1;
    }

    /** Returns the nanoseconds until the device has done a number of calls. */
    private long time(Runnable kernel, int calls) {
        engine.copyToHost(probe, 0, reached);
        long begin = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            kernel.run();
        }
        engine.copyToHost(probe, 0, reached);
        return System.nanoTime() - begin;
    }
}
