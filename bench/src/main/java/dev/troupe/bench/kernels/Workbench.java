package dev.troupe.bench.kernels;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.InstalledEngines;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.concurrent.TimeUnit;
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
 * An engine of one thread and tensors of random numbers; a family of kernels extends it. Thread rule: JMH calls it on one
 * thread.
 *
 * <p>B sequences of T tokens are N = B T rows; C hidden size, H heads, V vocabulary.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public abstract class Workbench {
    static final int B = 4;
    static final int T = 256;
    static final int N = B * T;
    static final int C = 512;
    static final int H = 8;
    static final int V = 4096;
    private static final float SPREAD = 0.1f;

    /** The engine's kind, as in {@code engine.kind}. */
    @Param({"cpu", "reference"})
    public String engineKind;

    private final Random random = new Random(1);
    private Engine engine;

    /** For subclasses. */
    protected Workbench() {
    }

    /** Opens the engine and lets the family allocate its tensors. */
    @Setup(Level.Trial)
    public final void open() {
        EngineProvider provider = InstalledEngines.find().stream()
                .filter(candidate -> candidate.kind().equals(engineKind)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no engine " + engineKind));
        engine = provider.open(new EngineSettings(DataType.FLOAT32, computeType(), 1));
        layOut();
    }

    /** Frees the tensors and closes the engine. */
    @TearDown(Level.Trial)
    public final void close() {
        engine.close();
    }

    /** The type of activations and of the operands of products. */
    DataType computeType() {
        return DataType.FLOAT32;
    }

    abstract void layOut();

    final Engine engine() {
        return engine;
    }

    final Tensor floats(int... sizes) {
        Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(sizes));
        float[] numbers = new float[(int) tensor.shape().elementCount()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = SPREAD * (float) random.nextGaussian();
        }
        engine.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        return tensor;
    }

    final Tensor zeros(Shape shape) {
        return engine.allocate(DataType.FLOAT32, shape);
    }

    final Tensor ids(int limit, int count) {
        Tensor tensor = engine.allocate(DataType.INT32, Shape.of(count));
        engine.copyFromHost(MemorySegment.ofArray(random.ints(count, 0, limit).toArray()), tensor, 0);
        return tensor;
    }
}
