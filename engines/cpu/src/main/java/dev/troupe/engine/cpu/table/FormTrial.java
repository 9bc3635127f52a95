package dev.troupe.engine.cpu.table;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.library.Sgemm;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.product.ProductForm;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/**
 * The kernels of one form of product on one engine, at the shapes of a step, so that packing and cutting count as well.
 * Letters: N rows, C hidden size, F width of a feed-forward layer.
 *
 * <p>Thread rule: the rule of kernels.
 */
final class FormTrial implements AutoCloseable {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int N = 1024;
    private static final int C = 512;
    private static final int F = 2048;
    private static final int SMALL_N = 256;
    private static final int SMALL_C = 128;
    private static final int SMALL_F = 512;
    /** Small kernels run several times, so that times exceed the resolution of the clock. */
    private static final int SMALL_REPEATS = 40;
    private static final int SEQUENCE = 256;
    private static final int HEADS = 8;
    private static final int HEAD_SIZE = C / HEADS;
    private static final int QUERIES = 64;
    private static final int PERIOD = 17;

    private final Engine engine;
    private final Sgemm tiles;
    private final Arena arena = Arena.ofConfined();
    private final List<Tensor> tensors = new ArrayList<>();
    private final Runnable kernels;
    private final double operations;

    /** A trial on an engine of one thread, with tensors of small numbers of both signs. */
    FormTrial(Engine engine, Sgemm tiles, ProductForm form) {
        this.engine = engine;
        this.tiles = tiles;
        this.kernels = switch (form) {
            case LARGE -> large();
            case GRADIENT -> gradient();
            case SMALL -> small();
            case ATTENTION -> attention();
        };
        this.operations = switch (form) {
            case LARGE -> 4.0 * N * C * F;
            case GRADIENT -> 2.0 * N * C * F;
            case SMALL -> SMALL_REPEATS * 6.0 * SMALL_N * SMALL_C * SMALL_F;
            case ATTENTION -> SMALL_REPEATS * 6.0 * QUERIES * SEQUENCE * HEAD_SIZE;
        };
    }

    /** Floating-point operations of the products of one run. */
    double operations() {
        return operations;
    }

    /** Runs the kernels, and returns the processor time of this thread in nanoseconds. */
    long nanos() {
        long start = THREADS.getCurrentThreadCpuTime();
        kernels.run();
        return THREADS.getCurrentThreadCpuTime() - start;
    }

    private Runnable large() {
        Tensor x = tensor(N, C);
        Tensor up = parameter(C, F);
        Tensor wide = tensor(N, F);
        Tensor down = parameter(F, C);
        Tensor y = tensor(N, C);
        return () -> {
            engine.matmul(x, false, up, false, wide, false);
            engine.matmul(wide, false, down, false, y, false);
        };
    }

    private Runnable gradient() {
        Tensor x = tensor(N, C);
        Tensor dy = tensor(N, F);
        Tensor dW = tensor(C, F);
        return () -> engine.matmul(x, true, dy, false, dW, true);
    }

    private Runnable small() {
        Tensor x = tensor(SMALL_N, SMALL_C);
        Tensor w = parameter(SMALL_C, SMALL_F);
        Tensor y = tensor(SMALL_N, SMALL_F);
        Tensor dX = tensor(SMALL_N, SMALL_C);
        Tensor dW = tensor(SMALL_C, SMALL_F);
        return () -> {
            for (int i = 0; i < SMALL_REPEATS; i++) {
                engine.matmul(x, false, w, false, y, false);
                engine.matmul(y, false, w, true, dX, false);
                engine.matmul(x, true, y, false, dW, true);
            }
        };
    }

    /** The tiles alone: the rest of attention is compiled late, and would hide them until then. */
    private Runnable attention() {
        long qkv = floats(N * 3 * C);
        long scores = floats(QUERIES * SEQUENCE);
        long y = floats(N * C);
        return () -> {
            for (int i = 0; i < SMALL_REPEATS; i++) {
                int head = i % HEADS * HEAD_SIZE;
                long queries = qkv + (long) Float.BYTES * head;
                long keys = queries + (long) Float.BYTES * C;
                tiles.multiply(false, true, QUERIES, SEQUENCE, HEAD_SIZE, 1, queries, 3 * C, keys, 3 * C, 0, scores,
                        SEQUENCE);
                tiles.multiply(false, false, QUERIES, HEAD_SIZE, SEQUENCE, 1, scores, SEQUENCE, keys, 3 * C, 0,
                        y + (long) Float.BYTES * head, C);
                tiles.multiply(true, false, SEQUENCE, HEAD_SIZE, QUERIES, 1, scores, SEQUENCE, queries, 3 * C, 0,
                        y + (long) Float.BYTES * head, C);
            }
        };
    }

    private long floats(int count) {
        return filled(arena, count, C).address();
    }

    private Tensor parameter(int rows, int columns) {
        return engine.range(tensor(rows, columns), 0, Shape.of(rows, columns));
    }

    private Tensor tensor(int rows, int columns) {
        Tensor tensor = engine.allocate(engine.computeType(), Shape.of(rows, columns));
        tensors.add(tensor);
        try (Arena content = Arena.ofConfined()) {
            engine.copyFromHost(filled(content, rows * columns, columns), tensor, 0);
        }
        return tensor;
    }

    private static MemorySegment filled(Arena arena, int count, int divisor) {
        MemorySegment values = arena.allocate((long) Float.BYTES * count, Lanes.ALIGNMENT);
        for (int i = 0; i < count; i++) {
            values.setAtIndex(ValueLayout.JAVA_FLOAT, i, (i % PERIOD - PERIOD / 2) / (float) divisor);
        }
        return values;
    }

    @Override
    public void close() {
        tensors.forEach(Tensor::close);
        arena.close();
    }
}
