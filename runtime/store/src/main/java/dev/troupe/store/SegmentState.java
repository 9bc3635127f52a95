package dev.troupe.store;

import java.util.Arrays;
import java.util.List;

/** The parameters of a segment, with the state of the server function, the clocks and the sequence numbers of pushes. */
public final class SegmentState {
    private final KeyRange range;
    private final double[] values;
    private final double[][] ofFunction;
    private final RangeClocks clocks;
    /** By worker: the number of its pushes to this segment that were applied. */
    private final long[] sequences;
    /** By parameter: the number of its updates. */
    private final long[] updates;
    private Stamp stamp;

    private SegmentState(KeyRange range, double[] values, double[][] ofFunction, RangeClocks clocks, long[] sequences,
            long[] updates, Stamp stamp) {
        this.range = range;
        this.values = values;
        this.ofFunction = ofFunction;
        this.clocks = clocks;
        this.sequences = sequences;
        this.updates = updates;
        this.stamp = stamp;
    }

    static SegmentState first(KeyRange range, double[] values, ServerFunction function, int workers) {
        return new SegmentState(range, values.clone(), new double[function.stateCount()][range.count()],
                new RangeClocks(range, workers), new long[workers], new long[range.count()], Stamp.FIRST);
    }

    SegmentState copy() {
        double[][] states = new double[ofFunction.length][];
        for (int i = 0; i < states.length; i++) {
            states[i] = ofFunction[i].clone();
        }
        return new SegmentState(range, values.clone(), states, clocks.copy(), sequences.clone(), updates.clone(),
                stamp);
    }

    /** Forgets which pushes were applied: a defect, for tests. */
    SegmentState withoutSequences() {
        SegmentState copy = copy();
        Arrays.fill(copy.sequences, 0);
        return copy;
    }

    Stamp stamp() {
        return stamp;
    }

    long sequence(int worker) {
        return sequences[worker];
    }

    double[] values() {
        return values.clone();
    }

    double[] values(KeyRange part) {
        int offset = (int) (part.first() - range.first());
        return Arrays.copyOfRange(values, offset, offset + part.count());
    }

    /** Returns this parameter's state of the server function. */
    double ofFunction(int index, long key) {
        return ofFunction[index][(int) (key - range.first())];
    }

    long earliestClock(KeyRange part) {
        return clocks.earliest(part);
    }

    /** Applies one update: the sum of some pushes to one range, in their order. */
    void apply(Stamp next, List<StoreMessage.Push> pushes, ServerFunction function) {
        KeyRange changed = pushes.getFirst().range();
        int offset = (int) (changed.first() - range.first());
        for (int i = 0; i < changed.count(); i++) {
            double gradient = 0;
            for (StoreMessage.Push push : pushes) {
                gradient += push.gradient()[i];
            }
            int at = offset + i;
            values[at] = function.updated(values[at], gradient, ofFunction, at, ++updates[at]);
        }
        for (StoreMessage.Push push : pushes) {
            sequences[push.worker()] = push.sequence();
            clocks.set(push.range(), push.worker(), push.time() + 1);
        }
        stamp = next;
    }
}
