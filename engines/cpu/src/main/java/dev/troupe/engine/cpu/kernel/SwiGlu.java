package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.memory.CpuTensor;
import jdk.incubator.vector.FloatVector;

/**
 * The gated unit y = silu(gate) up (Shazeer 2020) with silu(x) = x s, s = 1 / (1 + e^-x), in loops over floats that stay in
 * the cache.
 */
public final class SwiGlu {
    private static final int BLOCK = 1024;
    public static final long SCRATCH_BYTES = Lanes.ALIGNMENT + 4L * 5 * BLOCK;

    private SwiGlu() {
    }

    /** Computes {@code count} elements, from {@code first} on. */
    public static void forward(CpuTensor gate, CpuTensor up, CpuTensor y, long first, int count, long scratch) {
        long exponentials = scratch + Lanes.ALIGNMENT;
        for (int from = 0; from < count; from += BLOCK) {
            int floats = Math.min(BLOCK, count - from);
            long at = first + from;
            long x = gate.read(at, floats, exponentials + 4L * BLOCK);
            long to = y.target(at, exponentials + 8L * BLOCK);
            exponentials(x, exponentials, floats, scratch);
            weigh(x, exponentials, up.read(at, floats, exponentials + 12L * BLOCK), to, floats);
            y.written(at, floats, to);
        }
    }

    /** dGate = dy up (s + x s (1 - s)) and dUp = dy x s; dGate may be gate, and dUp may be up or dy. */
    public static void backward(CpuTensor gate, CpuTensor up, CpuTensor dy, CpuTensor dGate, CpuTensor dUp, long first,
            int count, long scratch) {
        long exponentials = scratch + Lanes.ALIGNMENT;
        for (int from = 0; from < count; from += BLOCK) {
            int floats = Math.min(BLOCK, count - from);
            long at = first + from;
            long x = gate.read(at, floats, exponentials + 4L * BLOCK);
            long factor = up.read(at, floats, exponentials + 8L * BLOCK);
            long gradient = dy.read(at, floats, exponentials + 12L * BLOCK);
            long toGate = dGate.target(at, exponentials + 4L * BLOCK);
            long toUp = dUp.target(at, exponentials + 16L * BLOCK);
            exponentials(x, exponentials, floats, scratch);
            gradients(x, exponentials, factor, gradient, toGate, toUp, floats);
            dGate.written(at, floats, toGate);
            dUp.written(at, floats, toUp);
        }
    }

    /** y = e^-x. */
    private static void exponentials(long x, long y, int count, long lanes) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(x, i).neg(), y, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(y, i, -Lanes.get(x, i));
        }
        RowLoop.exponentials(y, 0, y, count, lanes);
    }

    private static void weigh(long x, long exponentials, long up, long y, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector silu = Lanes.load(x, i).div(Lanes.load(exponentials, i).add(1));
            Lanes.store(silu.mul(Lanes.load(up, i)), y, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(y, i, Lanes.get(x, i) / (Lanes.get(exponentials, i) + 1) * Lanes.get(up, i));
        }
    }

    private static void gradients(long x, long exponentials, long up, long dy, long dGate, long dUp, int count) {
        FloatVector ones = Lanes.all(1);
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector s = ones.div(Lanes.load(exponentials, i).add(ones));
            FloatVector silu = Lanes.load(x, i).mul(s);
            FloatVector gradient = Lanes.load(dy, i);
            FloatVector slope = silu.mul(ones.sub(s)).add(s);
            FloatVector ofGate = gradient.mul(Lanes.load(up, i)).mul(slope);
            Lanes.store(gradient.mul(silu), dUp, i);
            Lanes.store(ofGate, dGate, i);
        }
        for (int i = whole; i < count; i++) {
            float s = 1 / (Lanes.get(exponentials, i) + 1);
            float silu = Lanes.get(x, i) * s;
            float gradient = Lanes.get(dy, i);
            float ofGate = gradient * Lanes.get(up, i) * (silu * (1 - s) + s);
            Lanes.set(dUp, i, gradient * silu);
            Lanes.set(dGate, i, ofGate);
        }
    }
}
