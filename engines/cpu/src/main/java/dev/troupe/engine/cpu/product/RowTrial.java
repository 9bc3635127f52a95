package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.cpu.kernel.RowAttention;
import dev.troupe.engine.cpu.library.BfloatUnits;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.WorkerPool;
import dev.troupe.engine.cpu.memory.CpuMemory;
import dev.troupe.engine.cpu.memory.CpuTensor;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;

/**
 * A comparison of products of oneDNN on this processor: rows of a product have to be the same bits in panels of each number
 * of rows, at each place, and after other rows. The numbers are random, so that another order of sums shows. It is a trial
 * of some shapes, since oneDNN documents no order.
 *
 * <p>Thread rule: any thread.
 */
public final class RowTrial {
    /** Rows and columns of right sides: fewer than a block, whole blocks, and sums long enough to be cut. */
    private static final int[][] SHAPES = {{7, 11}, {33, 17}, {64, 64}, {300, 100}, {576, 192}, {576, 1536}, {1536, 64},
            {3072, 64}, {4096, 80}, {11008, 64}};
    /** Sizes of a head. */
    private static final int[] HEADS = {16, 64, 80, 128};
    /** Keys of a tile of attention, and its queries. */
    private static final int KEYS = RowAttention.KEYS;
    private static final int[] QUERIES = {RowAttention.QUERIES, RowAttention.FEW_QUERIES};

    private RowTrial() {
    }

    /**
     * Why rows are not exact here, in one sentence; empty if they are. Computed once for each type.
     *
     * @param type the type of activations
     */
    public static Optional<String> obstacle(DataType type) {
        return type == DataType.BFLOAT16 ? OfBfloat16.OBSTACLE : OfFloat32.OBSTACLE;
    }

    private static final class OfFloat32 {
        static final Optional<String> OBSTACLE = compare(DataType.FLOAT32);
    }

    private static final class OfBfloat16 {
        static final Optional<String> OBSTACLE = compare(DataType.BFLOAT16);
    }

    private static Optional<String> compare(DataType type) {
        Random random = new Random(1);
        for (int[] shape : SHAPES) {
            if (!isExact(type, shape[0], shape[1], random)) {
                return Optional.of(String.format(Locale.ROOT,
                        "oneDNN computes other bits of a row here if it is among other rows (%s [%d x %d]), so that"
                                + " engine.exact-rows cannot be kept; take the engine reference",
                        type, shape[0], shape[1]));
            }
        }
        for (int size : HEADS) {
            if (!isExactInHeads(BfloatUnits.computing(type), size, random)) {
                return Optional.of(String.format(Locale.ROOT,
                        "oneDNN computes other bits of a row of attention here if it is among other rows (%s, heads of"
                                + " %d), so that engine.exact-rows cannot be kept; take the engine reference",
                        type, size));
            }
        }
        return Optional.empty();
    }

    private static boolean isExact(DataType type, int k, int n, Random random) {
        CpuMemory memory = new CpuMemory();
        try (WorkerPool pool = new WorkerPool(1); RowProducts products = new RowProducts(pool)) {
            CpuTensor a = numbers(memory, type, RowProducts.MOST, k, random);
            CpuTensor b = numbers(memory, type, k, n, random);
            CpuTensor all = memory.allocate(DataType.FLOAT32, Shape.of(RowProducts.MOST, n));
            products.multiply(a, b, false, all, k, false, 0, null);
            for (int rows = RowProducts.MOST / 2; rows >= RowProducts.LEAST / 2; rows /= 2) {
                CpuTensor some = memory.allocate(DataType.FLOAT32, Shape.of(rows, n));
                int first = random.nextInt(RowProducts.MOST - rows);
                products.multiply(CpuTensor.rows(a, first, rows), b, false, some, k, false, 0, null);
                if (some.elements().mismatch(CpuTensor.rows(all, first, rows).elements()) >= 0) {
                    return false;
                }
            }
            return true;
        } finally {
            memory.close();
        }
    }

    /** Products of queries and keys, and of probabilities and values, in tiles of few and of many queries. */
    private static boolean isExactInHeads(DataType type, int size, Random random) {
        CpuMemory memory = new CpuMemory();
        try (InPlaceProducts products = new InPlaceProducts(type)) {
            CpuTensor queries = numbers(memory, type, QUERIES[0], size, random);
            CpuTensor keys = numbers(memory, type, KEYS, size, random);
            // Narrow probabilities are in the place of floats, as in the kernel.
            int stride = type == DataType.BFLOAT16 ? 2 * KEYS : KEYS;
            CpuTensor weights = numbers(memory, type, QUERIES[0], stride, random);
            CpuTensor[] scores = new CpuTensor[QUERIES.length];
            CpuTensor[] sums = new CpuTensor[QUERIES.length];
            int first = random.nextInt(QUERIES[0] - QUERIES[1]);
            for (int i = 0; i < QUERIES.length; i++) {
                int rows = QUERIES[i];
                long from = i == 0 ? 0 : first;
                scores[i] = memory.allocate(DataType.FLOAT32, Shape.of(rows, KEYS));
                products.multiply(false, true, rows, KEYS, size, 0.3f, queries.addressOf(from * size), size,
                        keys.address(), size, 0, scores[i].address(), KEYS);
                sums[i] = memory.allocate(DataType.FLOAT32, Shape.of(rows, size));
                products.multiply(false, false, rows, size, KEYS, 1, weights.addressOf(from * stride), stride,
                        keys.address(), size, 0, sums[i].address(), size);
            }
            return scores[1].elements().mismatch(CpuTensor.rows(scores[0], first, QUERIES[1]).elements()) < 0
                    && sums[1].elements().mismatch(CpuTensor.rows(sums[0], first, QUERIES[1]).elements()) < 0;
        } finally {
            memory.close();
        }
    }

    private static CpuTensor numbers(CpuMemory memory, DataType type, int rows, int columns, Random random) {
        CpuTensor wide = memory.allocate(DataType.FLOAT32, Shape.of(rows, columns));
        for (int i = 0; i < rows * columns; i++) {
            Lanes.set(wide.address(), i, (float) random.nextGaussian());
        }
        if (type == DataType.FLOAT32) {
            return wide;
        }
        CpuTensor narrow = memory.allocate(type, wide.shape());
        narrow.written(0, rows * columns, wide.address());
        return narrow;
    }
}
