package dev.troupe.engine.nd4j;

import dev.troupe.engine.nd4j.Scratch.Slot;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * Rows of a table that may be a shard. ND4J's indices must be rows of the table, so an id that is elsewhere, or does not
 * count, becomes row 0 with weight 0.
 *
 * @param rows INT32 [N], each a row of the table
 * @param weights for each row, 1 if it is in the table, otherwise 0; null if all are
 */
record ShardIds(INDArray rows, ArrayViews weights) {
    /** The rows of ids [N]; in scratch slots {@code INDICES} and {@code MORE_ROWS}. */
    static ShardIds of(Nd4jTensor ids, Scratch scratch) {
        int count = ids.size(0);
        MemorySegment values = Nd4jMemory.hostBytes(ids);
        if (allHere(values, count)) {
            return new ShardIds(ids.flat(), null);
        }
        ArrayViews rows = scratch.slot(Slot.INDICES, count);
        ArrayViews weights = scratch.slot(Slot.MORE_ROWS, count);
        for (int i = 0; i < count; i++) {
            int id = values.getAtIndex(ValueLayout.JAVA_INT, i);
            rows.flat().data().put(i, Math.max(id, 0));
            weights.flat().data().put(i, id < 0 ? 0 : 1);
        }
        return new ShardIds(rows.vector(count), weights);
    }

    private static boolean allHere(MemorySegment values, int count) {
        for (int i = 0; i < count; i++) {
            if (values.getAtIndex(ValueLayout.JAVA_INT, i) < 0) {
                return false;
            }
        }
        return true;
    }
}
