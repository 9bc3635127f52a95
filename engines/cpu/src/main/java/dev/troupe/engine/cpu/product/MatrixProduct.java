package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.cpu.kernel.Bias;
import dev.troupe.engine.cpu.library.BfloatUnits;
import dev.troupe.engine.cpu.library.Sgemm;
import dev.troupe.engine.cpu.loop.WorkerPool;
import dev.troupe.engine.cpu.memory.CpuTensor;
import java.util.Arrays;
import java.util.Optional;

/**
 * Matrix products by the library of their form: {@link PackedProducts} for large products of oneDNN and all products of
 * bfloat16, except {@link GradientProducts} on units, a {@link Sgemm} for the others. A large product is cut into panels. If
 * the library packs an operand for each panel, the longer side is cut, so that the smaller operand is packed repeatedly. The
 * cut follows only from the shape, so that a product has the same bits for any number of threads. With exact rows
 * {@link RowProducts} compute every product of which the left side is not transposed.
 */
public final class MatrixProduct implements AutoCloseable {
    /** Multiplications of a panel: some 150 microseconds of one thread, many times the time of a wake-up. */
    private static final long PANEL_MULTIPLICATIONS = 1L << 24;
    private static final int MOST_PANELS = 8;
    /** Panels of a library that packs both operands of each: with 8, OpenBLAS was 1 to 15 % slower than with 4. */
    private static final int MOST_PANELS_OF_OTHERS = 4;
    /** Panels begin at multiples of this number, as oneDNN's blocks do. */
    private static final int STEP = 48;

    /** An operation on each rectangle of the product as soon as it is computed, by the same member of the pool. */
    @FunctionalInterface
    public interface Finish {
        void finish(int firstRow, int rows, int firstColumn, int columns, int member);
    }

    private final WorkerPool pool;
    private final ProductChoice choice;
    private final Sgemm[] sgemms;
    private final PackedProducts packed;
    private final GradientProducts gradients;
    private final int parts;
    /** Empty if all products are computed with whole floats. */
    private final Optional<SplitProducts> split;
    /** For products with a left side that is not transposed; empty if a row's bits may depend on the other rows. */
    private final Optional<RowProducts> exact;

    /**
     * Products on a pool.
     *
     * @param parts numbers of bfloat16 for each float, 2 or 3, on a processor with AMX; 0: whole floats
     * @param exactRows whether a row has the same bits whatever other rows there are, if the left side is not transposed
     */
    public MatrixProduct(WorkerPool pool, ProductChoice choice, int parts, boolean exactRows) {
        this.pool = pool;
        this.parts = parts;
        this.choice = choice;
        this.sgemms = Arrays.stream(ProductForm.values()).map(choice::sgemm).toArray(Sgemm[]::new);
        this.packed = new PackedProducts(pool);
        this.gradients = new GradientProducts(pool);
        this.split = parts == 0 ? Optional.empty() : Optional.of(new SplitProducts(pool, parts));
        this.exact = exactRows ? Optional.of(new RowProducts(pool)) : Optional.empty();
    }

    /**
     * {@code c (+)= op(a) op(b)}: a [m x k] or its transpose, b [k x n] or its transpose, c [m x n]. If a and b are of
     * bfloat16 and c is not, c is not rounded.
     *
     * @param bias added to each row of a product that is not accumulated; 0 for none
     * @param finish may be null
     */
    public void multiply(CpuTensor a, boolean transposeA, CpuTensor b, boolean transposeB, CpuTensor c, int k,
            boolean accumulate, long bias, Finish finish) {
        int m = c.size(0);
        int n = c.size(1);
        if (exact.isPresent() && !transposeA) {
            exact.get().multiply(a, b, transposeB, c, k, accumulate, bias, finish);
            return;
        }
        if (isSplit(a.dataType(), m, (long) k * n, transposeA)) {
            split.orElseThrow().multiply(a, transposeA, b, transposeB, c, k, accumulate, bias, finish,
                    sgemms[ProductForm.of(m, (long) k * n, transposeA).ordinal()]);
            return;
        }
        if (transposeA && isOnUnits(a.dataType(), c.dataType()) && bias == 0 && finish == null) {
            gradients.multiply(a, b, transposeB, c, k, accumulate);
            return;
        }
        ProductForm form = ProductForm.of(m, (long) k * n, transposeA);
        if (isPacked(a.dataType(), form)) {
            packed.multiply(a, transposeA, b, transposeB, c, k, accumulate, bias, finish);
            return;
        }
        Sgemm sgemm = sgemms[form.ordinal()];
        long aStride = transposeA ? m : k;
        long bStride = transposeB ? k : n;
        long aStep = transposeA ? 1 : aStride;
        long bStep = transposeB ? bStride : 1;
        long left = a.address();
        long right = b.address();
        long to = c.address();
        boolean tall = m >= n;
        pool.share(tall ? m : n, panel(form, tall ? m : n, k, tall ? n : m), (from, count, member) -> {
            int row = tall ? (int) from : 0;
            int column = tall ? 0 : (int) from;
            int rows = tall ? count : m;
            int columns = tall ? n : count;
            sgemm.multiply(transposeA, transposeB, rows, columns, k, 1, left + 4 * row * aStep, aStride,
                    right + 4 * column * bStep, bStride, accumulate ? 1 : 0, to + 4 * ((long) row * n + column), n);
            for (int i = row; bias != 0 && i < row + rows; i++) {
                Bias.add(bias + 4L * column, to + 4 * ((long) i * n + column), columns);
            }
            if (finish != null) {
                finish.finish(row, rows, column, columns, member);
            }
        });
    }

    /** Bytes of the packed copy that a product of {@code rows} rows keeps of a range, which is its right side. */
    public long packedCopyBytes(DataType type, long rows, Shape range) {
        if (exact.isPresent()) {
            return Math.max(RowProducts.sideBytes(type, range.size(0), range.size(1)),
                    RowProducts.sideBytes(type, range.size(1), range.size(0)));
        }
        if (isSplit(type, rows, range.elementCount(), false)) {
            return Math.max(SplitSide.bytes(range.size(0), range.size(1), parts),
                    SplitSide.bytes(range.size(1), range.size(0), parts));
        }
        return isPacked(type, ProductForm.of(rows, range.elementCount(), false))
                ? range.elementCount() * BfloatUnits.computing(type).elementBytes()
                : 0;
    }

    private boolean isSplit(DataType type, long rows, long rightElements, boolean transposeA) {
        return split.isPresent() && type == DataType.FLOAT32 && SplitProducts.serves(rows, rightElements, transposeA);
    }

    private static boolean isOnUnits(DataType type, DataType product) {
        return type == DataType.BFLOAT16 && product == DataType.FLOAT32 && BfloatUnits.arePresent();
    }

    private boolean isPacked(DataType type, ProductForm form) {
        return type == DataType.BFLOAT16 || form != ProductForm.SMALL && choice.isOneDnn(form);
    }

    /**
     * Bytes of scratch memory for a product [m x k] [k x n], as {@link PackedProducts#scratchBytes}, without the memory of a
     * {@link Sgemm}.
     */
    public long scratchBytes(DataType type, DataType product, long m, long k, long n, boolean isKept) {
        if (isSplit(type, m, k * n, false)) {
            return SplitProducts.scratchBytes(m, k, n, isKept, parts, pool.threads());
        }
        boolean isPacked = isPacked(type, ProductForm.of(m, k * n, false))
                || isPacked(type, ProductForm.of(m, k * n, true));
        long bytes = isPacked ? PackedProducts.scratchBytes(type, product, m, k, n, isKept, pool.threads()) : 0;
        if (exact.isPresent()) {
            bytes = Math.max(bytes, RowProducts.scratchBytes(type, k, n, isKept, pool.threads()));
        }
        // A left side may be transposed if the right one is not kept.
        return isOnUnits(type, product) && !isKept ? Math.max(bytes, GradientProducts.copyBytes(m, k)) : bytes;
    }

    /** The number of the {@code longer} rows or columns in a panel. */
    private int panel(ProductForm form, int longer, int k, int shorter) {
        long panels = Math.clamp((long) longer * k * shorter / PANEL_MULTIPLICATIONS, 1,
                choice.isOneDnn(form) ? MOST_PANELS : MOST_PANELS_OF_OTHERS);
        int even = (int) ((longer + panels - 1) / panels);
        return Math.min(longer, (even + STEP - 1) / STEP * STEP);
    }

    @Override
    public void close() {
        packed.close();
        gradients.close();
        split.ifPresent(SplitProducts::close);
        exact.ifPresent(RowProducts::close);
    }
}
