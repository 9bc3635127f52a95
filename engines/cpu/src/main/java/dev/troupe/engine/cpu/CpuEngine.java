package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.kernel.Bias;
import dev.troupe.engine.cpu.kernel.CausalAttention;
import dev.troupe.engine.cpu.kernel.CausalAttention.Operands;
import dev.troupe.engine.cpu.kernel.Embedding;
import dev.troupe.engine.cpu.kernel.Gelu;
import dev.troupe.engine.cpu.kernel.Rotary;
import dev.troupe.engine.cpu.library.BfloatUnits;
import dev.troupe.engine.cpu.library.NativeHeap;
import dev.troupe.engine.cpu.library.Tiles;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.memory.CpuTensor;
import dev.troupe.engine.cpu.product.InPlaceProducts;
import dev.troupe.engine.cpu.product.MatrixProduct;
import dev.troupe.engine.cpu.product.ProductChoice;
import dev.troupe.engine.cpu.product.ProductForm;
import dev.troupe.engine.provider.EngineSettings;
import java.util.List;
import java.util.stream.Stream;

/**
 * The engine for processors, in float32, or with activations and products of bfloat16. A library such as oneDNN computes
 * matrix products; vector loops over native memory compute everything else.
 *
 * <p>The results of a kernel are the same bytes on every call, whatever other engines do, and for every number of threads.
 * They differ on processors of other vector widths or instruction sets, and with another {@link ProductChoice}. With exact
 * rows, a row of the forward of attention, and of a product with a left side that is not transposed, has the same bytes
 * whatever other rows there are.
 *
 * <p>Thread rule: as of {@link Engine}; tensors may also be allocated, copied and closed on any thread. A kernel runs on
 * the calling thread and, if the engine has more than one, on helpers that sleep between kernels.
 */
public final class CpuEngine extends RoutingRows {
    private final MatrixProduct products;
    /** Of each member of the pool, for attention on units of bfloat16; none without units. */
    private final List<InPlaceProducts> narrowProducts;
    /** Of each member of the pool, for the rows of attention. */
    private final List<InPlaceProducts> rowProducts;
    private final CausalAttention attention;
    private boolean closed;

    /** An engine without tensors, and with one helper less than its threads. */
    CpuEngine(EngineSettings settings) {
        super(settings);
        ProductChoice choice = ProductChoice.parse(settings.products());
        products = new MatrixProduct(pool, choice,
                Tiles.obstacle().isEmpty() ? settings.floatParts() : 0, settings.exactRows());
        boolean onUnits = computeType() == DataType.BFLOAT16 && BfloatUnits.arePresent();
        narrowProducts = inPlace(DataType.BFLOAT16, onUnits ? pool.threads() : 0);
        rowProducts = inPlace(DataType.FLOAT32, pool.threads());
        attention = new CausalAttention(pool.threads(), choice.sgemm(ProductForm.ATTENTION), rowProducts,
                narrowProducts, settings.exactRows());
    }

    private static List<InPlaceProducts> inPlace(DataType type, int count) {
        return Stream.generate(() -> new InPlaceProducts(type)).limit(count).toList();
    }

    @Override
    public String kind() {
        return CpuEngineProvider.KIND;
    }

    @Override
    public long packedCopyBytes(Shape range, long rows) {
        return products.packedCopyBytes(computeType(), rows, range);
    }

    @Override
    public long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return products.scratchBytes(computeType(), product, m, k, n, isRange);
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        CpuTensor a = CpuTensor.of(left);
        int k = a.size(transposeLeft ? 0 : 1);
        CpuTensor b = CpuTensor.of(right);
        CpuTensor c = CpuTensor.changing(product);
        products.multiply(a, transposeLeft, b, transposeRight, c, k, accumulate, 0, null);
    }

    @Override
    public void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        CpuTensor in = CpuTensor.of(x);
        CpuTensor w = CpuTensor.of(weight);
        long b = CpuTensor.of(bias).address();
        CpuTensor out = CpuTensor.changing(y);
        products.multiply(in, false, w, transposeWeight, out, in.size(1), false, b, null);
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        CpuTensor in = CpuTensor.of(x);
        CpuTensor w = CpuTensor.of(weight);
        int m = w.size(1);
        long b = CpuTensor.of(bias).address();
        CpuTensor pre = CpuTensor.changing(preActivation);
        CpuTensor out = CpuTensor.changing(y);
        scratch.require(Gelu.SCRATCH_BYTES);
        products.multiply(in, false, w, false, pre, in.size(1), false, b,
                (firstRow, rows, firstColumn, columns, member) -> {
                    for (int row = firstRow; row < firstRow + rows; row++) {
                        Gelu.forward(pre, out, (long) row * m + firstColumn, columns, scratch.of(member));
                    }
                });
    }

    @Override
    public void segmentMatmul(Tensor x, Tensor segments, List<Tensor> weights, boolean transposeWeights, Tensor y) {
        CpuTensor in = CpuTensor.of(x);
        CpuTensor out = CpuTensor.changing(y);
        long first = CpuTensor.of(segments).address();
        for (int expert = 0; expert < weights.size(); expert++) {
            int from = Lanes.getInt(first, expert);
            int count = Lanes.getInt(first, expert + 1) - from;
            if (count > 0) {
                products.multiply(CpuTensor.rows(in, from, count), false, CpuTensor.of(weights.get(expert)),
                        transposeWeights, CpuTensor.rows(out, from, count), in.size(1), false, 0, null);
            }
        }
    }

    @Override
    public void segmentMatmulBackward(Tensor dy, Tensor x, Tensor segments, List<Tensor> dWeights) {
        CpuTensor dOut = CpuTensor.of(dy);
        CpuTensor in = CpuTensor.of(x);
        long first = CpuTensor.of(segments).address();
        for (int expert = 0; expert < dWeights.size(); expert++) {
            int from = Lanes.getInt(first, expert);
            int count = Lanes.getInt(first, expert + 1) - from;
            if (count > 0) {
                products.multiply(CpuTensor.rows(dOut, from, count), true, CpuTensor.rows(in, from, count), false,
                        CpuTensor.changing(dWeights.get(expert)), count, true, 0, null);
            }
        }
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        CpuTensor dOut = CpuTensor.of(dy);
        int m = dOut.size(1);
        long to = CpuTensor.changing(dBias).address();
        int grain = columnsOfThread(m);
        scratch.require(Bias.scratchBytes(grain));
        pool.share(m, grain,
                (first, columns, member) -> Bias.backward(dOut, to, (int) first, columns, scratch.of(member)));
    }

    @Override
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        CpuTensor out = CpuTensor.changing(y);
        int c = out.size(1);
        CpuTensor ids = CpuTensor.of(tokens);
        CpuTensor table = CpuTensor.of(tokenTable);
        long position = positionTable == null
                ? Embedding.NO_TABLE
                : CpuTensor.of(positionTable).address();
        long id = ids.address();
        long row = table.address();
        scratch.require(Embedding.scratchBytes(c));
        pool.share(out.size(0), rowsOf(c), (from, rows, member) -> Embedding.forward(id, row, position,
                sequenceLength, out, (int) from, rows, scratch.of(member)));
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        CpuTensor dOut = CpuTensor.of(dy);
        int c = dOut.size(1);
        CpuTensor ids = CpuTensor.of(tokens);
        CpuTensor table = CpuTensor.changing(dTokenTable);
        long id = ids.address();
        long row = table.address();
        boolean positions = dPositionTable != null;
        long position = positions ? CpuTensor.changing(dPositionTable).address() : Embedding.NO_TABLE;
        int grain = columnsOfThread(c);
        scratch.require(Embedding.scratchBytes(grain));
        pool.share(c, grain, (first, columns, member) -> Embedding.backward(id, dOut, sequenceLength,
                row + 4 * first, positions ? position + 4 * first : Embedding.NO_TABLE, (int) first, columns,
                scratch.of(member)));
    }

    /** The logarithms of the rows' sums of exponentials, [B x H x T]. */
    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return Shape.of(microbatchSize, heads, sequenceLength);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
        CpuTensor out = CpuTensor.changing(y);
        attention.of(sequenceLength, heads, heads, out.size(1) / heads, dropout, 0);
        attend(Operands.packed(CpuTensor.of(qkv)), CpuTensor.changing(state), out, sequenceLength, heads);
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        CpuTensor dOut = CpuTensor.of(dy);
        attention.of(sequenceLength, heads, heads, dOut.size(1) / heads, dropout, 0);
        attendBackward(dOut, Operands.packed(CpuTensor.of(qkv)), CpuTensor.of(y), CpuTensor.of(state),
                Operands.packed(CpuTensor.changing(dQkv)));
    }

    @Override
    public void groupedAttention(Tensor queries, Tensor keys, Tensor values, Tensor starts, int sequenceLength,
            int heads, int keyValueHeads, Dropout dropout, Tensor state, Tensor y) {
        CpuTensor out = CpuTensor.changing(y);
        attention.of(sequenceLength, heads, keyValueHeads, out.size(1) / heads,
                dropout, addressOrNone(starts));
        attend(Operands.apart(CpuTensor.of(queries), CpuTensor.of(keys), CpuTensor.of(values)),
                CpuTensor.changing(state), out, sequenceLength, heads);
    }

    @Override
    public void groupedAttentionBackward(Tensor dy, Tensor queries, Tensor keys, Tensor values, Tensor starts,
            Tensor y, Tensor state, int sequenceLength, int heads, int keyValueHeads, Dropout dropout,
            Tensor dQueries, Tensor dKeys, Tensor dValues) {
        CpuTensor dOut = CpuTensor.of(dy);
        attention.of(sequenceLength, heads, keyValueHeads, dOut.size(1) / heads,
                dropout, addressOrNone(starts));
        attendBackward(dOut,
                Operands.apart(CpuTensor.of(queries), CpuTensor.of(keys), CpuTensor.of(values)), CpuTensor.of(y),
                CpuTensor.of(state), Operands.apart(CpuTensor.changing(dQueries), CpuTensor.changing(dKeys),
                        CpuTensor.changing(dValues)));
    }

    @Override
    public void cachedAttention(Tensor query, Tensor keys, Tensor values, int length, int heads, int keyValueHeads,
            Tensor y) {
        Operands of = Operands.apart(CpuTensor.of(query), CpuTensor.of(keys), CpuTensor.of(values));
        CpuTensor out = CpuTensor.changing(y);
        int d = out.size(1) / heads;
        attention.of(length, heads, keyValueHeads, d, Dropout.NONE, 0);
        scratch.require(attention.lastScratchBytes(out.isNarrow(), out.size(0)));
        pool.share(keyValueHeads, rowsOf(length * d), (first, count, member) -> {
            for (int shared = (int) first; shared < first + count; shared++) {
                attention.last(of, out, shared, member, scratch.of(member));
            }
        });
    }

    private void attend(Operands of, CpuTensor state, CpuTensor y, int sequenceLength,
            int heads) {
        long logSums = state.address();
        scratch.require(attention.forwardScratchBytes(y.isNarrow()));
        pool.share((long) y.size(0) / sequenceLength * heads, 1,
                (unit, count, member) -> attention.forward(of, logSums, y, (int) unit, member,
                        scratch.of(member)));
    }

    private void attendBackward(CpuTensor dy, Operands of, CpuTensor y, CpuTensor state,
            Operands gradients) {
        long logSums = state.address();
        scratch.require(attention.scratchBytes(dy.isNarrow()));
        pool.share(attention.backwardUnits(dy.size(0)), 1, (unit, count, member) -> attention.backward(dy, of, y,
                logSums, gradients, (int) unit, member, scratch.of(member)));
    }

    private static long addressOrNone(Tensor tensor) {
        return tensor == null ? 0 : CpuTensor.of(tensor).address();
    }

    @Override
    public void rotary(Tensor x, Tensor starts, int sequenceLength, Tensor cosines, Tensor sines, int headSize,
            boolean back, Tensor y) {
        CpuTensor in = CpuTensor.of(x);
        CpuTensor cos = CpuTensor.of(cosines);
        CpuTensor out = CpuTensor.changing(y);
        Rotary rotary = new Rotary(sequenceLength, cos.size(1), headSize, addressOrNone(starts), cos.address(),
                CpuTensor.of(sines).address(), back);
        int columns = in.size(1);
        scratch.require(Rotary.scratchBytes(columns));
        pool.share(in.size(0), rowsOf(columns),
                (row, rows, member) -> rotary.turn(in, out, (int) row, rows, scratch.of(member)));
    }

    @Override
    public void close() {
        super.close();
        if (!closed) {
            closed = true;
            products.close();
            narrowProducts.forEach(InPlaceProducts::close);
            rowProducts.forEach(InPlaceProducts::close);
            NativeHeap.trim();
        }
    }
}
