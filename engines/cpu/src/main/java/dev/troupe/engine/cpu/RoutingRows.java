package dev.troupe.engine.cpu;

import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.kernel.RoutedRow;
import dev.troupe.engine.cpu.kernel.Routing;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.memory.CpuTensor;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.router.Router;
import dev.troupe.engine.router.RowDraws;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The kernels of experts on rows: choice, tables, and rows sorted by expert and back. */
abstract class RoutingRows extends RowKernels {
    /** By thread. */
    private final AtomicReferenceArray<RoutedRow> routed;

    RoutingRows(EngineSettings settings) {
        super(settings);
        routed = new AtomicReferenceArray<>(pool.threads());
    }

    @Override
    public void route(Router router, Tensor logits, Tensor bias, Tensor scores, Tensor chosen, Tensor weights) {
        CpuTensor in = CpuTensor.of(logits);
        long x = in.address();
        long added = bias == null ? 0 : CpuTensor.of(bias).address();
        long y = CpuTensor.changing(scores).address();
        long choice = CpuTensor.changing(chosen).address();
        long out = CpuTensor.changing(weights).address();
        int e = in.size(1);
        int k = chosen.shape().size(1);
        pool.share(in.size(0), rowsOf(e * k), (row, rows, member) -> rowOf(member, e, k).forward(router, x, added, y,
                choice, out, (int) row, rows));
    }

    /** Returns the arrays of a thread, which are kept while sizes are the same. */
    private RoutedRow rowOf(int member, int e, int k) {
        RoutedRow row = routed.get(member);
        if (row == null || !row.fits(e, k)) {
            row = new RoutedRow(e, k);
            routed.set(member, row);
        }
        return row;
    }

    @Override
    public void routeBackward(Router router, Tensor scores, Tensor chosen, Tensor dWeights, Tensor dScores,
            Tensor dLogits) {
        long of = CpuTensor.of(scores).address();
        long choice = CpuTensor.of(chosen).address();
        long gradient = CpuTensor.of(dWeights).address();
        long further = dScores == null ? 0 : CpuTensor.of(dScores).address();
        CpuTensor to = CpuTensor.changing(dLogits);
        int e = to.size(1);
        int k = chosen.shape().size(1);
        scratch.require(4L * e);
        pool.share(to.size(0), rowsOf(e), (row, rows, member) -> rowOf(member, e, k).backward(router, of, choice,
                gradient, further, to, (int) row, rows, scratch.of(member)));
    }

    @Override
    public void routingTables(Tensor chosen, Tensor positions, Tensor segments, Tensor rows, Tensor places) {
        Routing.tables(CpuTensor.of(chosen).address(), positions == null ? 0 : CpuTensor.of(positions).address(),
                CpuTensor.changing(segments).address(),
                CpuTensor.changing(rows).address(), CpuTensor.changing(places).address(), chosen.shape().size(1),
                segments.shape().size(0) - 1, rows.shape().size(0));
    }

    @Override
    public void gatherRows(Tensor x, Tensor rows, Tensor y) {
        MemorySegment from = CpuTensor.of(x).elements();
        long row = CpuTensor.of(rows).address();
        CpuTensor out = CpuTensor.changing(y);
        MemorySegment to = out.elements();
        long bytes = (long) out.size(1) * out.dataType().elementBytes();
        pool.share(out.size(0), rowsOf(out.size(1)), (first, count, member) -> {
            for (long i = first; i < first + count; i++) {
                MemorySegment.copy(from, Lanes.getInt(row, (int) i) * bytes, to, i * bytes, bytes);
            }
        });
    }

    @Override
    public void combineRows(Tensor z, Tensor places, Tensor weights, Tensor y) {
        CpuTensor in = CpuTensor.of(z);
        long place = CpuTensor.of(places).address();
        long factor = weights == null ? 0 : CpuTensor.of(weights).address();
        CpuTensor out = CpuTensor.changing(y);
        int k = places.shape().size(1);
        scratch.require(8L * out.size(1));
        pool.share(out.size(0), rowsOf(out.size(1) * k), (row, rows, member) -> Routing.combine(in, place, factor, out,
                k, (int) row, rows, scratch.of(member)));
    }

    @Override
    public void combineRowsBackward(Tensor weights, Tensor places, Tensor inner, Tensor dInner, Tensor dWeights) {
        long factor = CpuTensor.of(weights).address();
        long place = CpuTensor.of(places).address();
        CpuTensor in = CpuTensor.changing(inner);
        CpuTensor dIn = CpuTensor.changing(dInner);
        long gradient = CpuTensor.changing(dWeights).address();
        int columns = in.size(1);
        scratch.require(Lanes.ALIGNMENT + 8L * columns);
        pool.share(in.size(0), rowsOf(columns), (first, count, member) -> Routing.combineBackward(factor, place, in,
                dIn, gradient, (int) first, count, scratch.of(member)));
    }

    /** By the definition: it reads every choice once, one after another. */
    @Override
    public void placeChoices(RowDraws draws, int capacity, Tensor chosen, Tensor weights, Tensor positions,
            Tensor loads, int index) {
        CpuTensor choices = CpuTensor.of(chosen);
        int[] ids = choices.elements().toArray(ValueLayout.JAVA_INT);
        long factor = CpuTensor.of(weights).address();
        double[] numbers = new double[ids.length];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = Lanes.get(factor, i);
        }
        int[] placed = new int[ids.length];
        int dropped = dev.troupe.engine.fallback.loop.Routing.place(
                draws == null ? null : draws.ofRows(choices.size(0)), capacity, ids, numbers, placed,
                choices.size(1));
        MemorySegment.copy(placed, 0, CpuTensor.changing(positions).elements(), ValueLayout.JAVA_INT, 0,
                placed.length);
        add(loads, index, dropped);
    }

    private static void add(Tensor vector, int index, double addend) {
        long to = CpuTensor.changing(vector).address();
        Lanes.set(to, index, (float) (Lanes.get(to, index) + addend));
    }

    @Override
    public void routerZLoss(Tensor logits, Tensor loads) {
        CpuTensor in = CpuTensor.of(logits);
        scratch.require(Lanes.ALIGNMENT + 4L * in.size(1));
        // By one thread, so that the sum has one order.
        add(loads, 2 * in.size(1), Routing.zLoss(in.address(), in.size(0), in.size(1), scratch.of(0)));
    }

    @Override
    public void routerZLossBackward(Tensor logits, double factor, Tensor dLogits) {
        long of = CpuTensor.of(logits).address();
        CpuTensor to = CpuTensor.changing(dLogits);
        scratch.require(Lanes.ALIGNMENT + 8L * to.size(1));
        pool.share(to.size(0), rowsOf(to.size(1)), (row, rows, member) -> Routing.zLossBackward(of, factor, to,
                (int) row, rows, scratch.of(member)));
    }

    @Override
    public void addLoads(Tensor scores, Tensor chosen, Tensor loads) {
        CpuTensor of = CpuTensor.of(scores);
        Routing.addLoads(of.address(), CpuTensor.of(chosen).address(), CpuTensor.changing(loads).address(), of.size(0),
                of.size(1), (int) chosen.shape().elementCount());
    }
}
