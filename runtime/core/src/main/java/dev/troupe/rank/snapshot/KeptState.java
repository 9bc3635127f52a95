package dev.troupe.rank.snapshot;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.snapshot.copy.SnapshotLayout;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;

/** The state in a snapshot at the time of the search. A read fails after the state was overwritten. */
final class KeptState implements WeightSource {
    private final Snapshot snapshot;
    private final long writing;

    KeptState(Snapshot snapshot, long writing) {
        this.snapshot = snapshot;
        this.writing = writing;
    }

    @Override
    public void read(String name, Shape shape, DataType parameterType, MemorySegment target) {
        SnapshotLayout.Region region = snapshot.layout().regions().get(name);
        if (region == null || !region.shape().equals(shape) || region.type() != parameterType) {
            throw new WeightException("the snapshot was expected to have " + name + " as " + parameterType + " " + shape
                    + ", but has " + (region == null ? "nothing" : region.type() + " " + region.shape()));
        }
        if (!snapshot.get(writing, region.offset(), target)) {
            throw new WeightException("the snapshot was overwritten by a later one while " + name
                    + " was read");
        }
    }
}
