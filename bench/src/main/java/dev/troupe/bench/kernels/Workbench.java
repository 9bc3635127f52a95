package dev.troupe.bench.kernels;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.InstalledEngines;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The benchmark of a kernel: an engine of one thread, tensors of random numbers, and the call that is measured. Thread rule:
 * JMH calls it on one thread.
 *
 * <p>B sequences of T tokens are N = B T rows; C hidden size, H heads, V vocabulary.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Workbench {
    static final int B = 4;
    /** Fewer if each call is tried once: its first calls are interpreted. */
    static final int T = Integer.getInteger("troupe.bench.tokens", 256);
    static final int N = B * T;
    static final int C = 512;
    static final int H = 8;
    static final int V = 4096;
    private static final float SPREAD = 0.1f;

    /** The engine's kind, as in {@code engine.kind}. */
    @Param({"cpu", "reference"})
    public String engineKind;

    /** The call, with its family: {@link KernelWork#benchmark}. */
    @Param("")
    public String kernel;

    private final Random random = new Random(1);
    private final Map<String, Runnable> calls = new HashMap<>();
    private Engine engine;
    private Runnable call;

    /** Opens the engine and lets the family allocate its tensors. */
    @Setup(Level.Trial)
    public void open() {
        EngineProvider provider = InstalledEngines.find().stream()
                .filter(candidate -> candidate.kind().equals(engineKind)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no engine " + engineKind));
        String name = kernel.substring(0, kernel.indexOf('.'));
        engine = provider.open(new EngineSettings(DataType.FLOAT32,
                name.equals(KernelFamily.CASTS) ? DataType.BFLOAT16 : DataType.FLOAT32, 1));
        calls.clear();
        KernelFamily.ALL.stream().filter(family -> family.name().equals(name)).findFirst().orElseThrow().calls()
                .accept(this, calls);
        choose(kernel);
    }

    /** Selects a call of the family that is open. */
    public void choose(String name) {
        call = calls.get(name.substring(name.indexOf('.') + 1));
    }

    /** Frees the tensors and closes the engine. */
    @TearDown(Level.Trial)
    public void close() {
        engine.close();
    }

    /** Calls the kernel. */
    @Benchmark
    public void call() {
        call.run();
    }

    Engine engine() {
        return engine;
    }

    Tensor floats(int... sizes) {
        Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(sizes));
        float[] numbers = new float[(int) tensor.shape().elementCount()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = SPREAD * (float) random.nextGaussian();
        }
        engine.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        return tensor;
    }

    Tensor zeros(Shape shape) {
        return engine.allocate(DataType.FLOAT32, shape);
    }

    Tensor ids(int limit, int count) {
        Tensor tensor = engine.allocate(DataType.INT32, Shape.of(count));
        engine.copyFromHost(MemorySegment.ofArray(random.ints(count, 0, limit).toArray()), tensor, 0);
        return tensor;
    }
}
