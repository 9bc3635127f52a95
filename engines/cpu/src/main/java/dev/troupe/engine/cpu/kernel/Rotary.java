package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Elements;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.memory.CpuTensor;
import jdk.incubator.vector.FloatVector;

/**
 * Rotations of heads by the angles of their places in a document (Su et al. 2021). Letters: T sequence length, D size of a
 * head, d the numbers of it that turn.
 */
public final class Rotary {
    private final int t;
    private final int half;
    private final int headSize;
    private final long starts;
    private final long cosines;
    private final long sines;
    /** 1, or -1 to rotate the other way. */
    private final float direction;

    /**
     * A rotation.
     *
     * @param half d/2, the columns of cosines and sines
     * @param headSize D
     * @param starts the address of INT32 with the beginning of each row's document; 0 if each sequence is one document
     */
    public Rotary(int t, int half, int headSize, long starts, long cosines, long sines, boolean back) {
        this.t = t;
        this.half = half;
        this.headSize = headSize;
        this.starts = starts;
        this.cosines = cosines;
        this.sines = sines;
        this.direction = back ? -1 : 1;
    }

    public static long scratchBytes(int columns) {
        return 4L * columns;
    }

    /** Rotates some rows of x; y may be x. */
    public void turn(CpuTensor x, CpuTensor y, int first, int rows, long scratch) {
        int columns = x.size(1);
        for (int row = first; row < first + rows; row++) {
            int place = row % t - (starts == 0 ? 0 : Lanes.getInt(starts, row));
            long from = x.read((long) row * columns, columns, scratch);
            long to = y.target((long) row * columns, scratch);
            for (int head = 0; head < columns; head += headSize) {
                turnHead(from + 4L * head, to + 4L * head, 4L * place * half);
                if (from != to) {
                    long rest = 4L * (head + 2 * half);
                    Elements.copy(from + rest, to + rest, headSize - 2 * half);
                }
            }
            y.written((long) row * columns, columns, to);
        }
    }

    private void turnHead(long x, long y, long angles) {
        long cosine = cosines + angles;
        long sine = sines + angles;
        long second = x + 4L * half;
        long secondTo = y + 4L * half;
        int whole = Lanes.whole(half);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector cos = Lanes.load(cosine, i);
            FloatVector sin = Lanes.load(sine, i).mul(direction);
            FloatVector a = Lanes.load(x, i);
            FloatVector b = Lanes.load(second, i);
            Lanes.store(a.mul(cos).sub(b.mul(sin)), y, i);
            Lanes.store(b.mul(cos).add(a.mul(sin)), secondTo, i);
        }
        for (int i = whole; i < half; i++) {
            float cos = Lanes.get(cosine, i);
            float sin = Lanes.get(sine, i) * direction;
            float a = Lanes.get(x, i);
            float b = Lanes.get(second, i);
            Lanes.set(y, i, a * cos - b * sin);
            Lanes.set(secondTo, i, b * cos + a * sin);
        }
    }
}
