package dev.troupe.rank.snapshot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.shard.StateTensor;
import dev.troupe.snapshot.copy.IncomingCopy;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One rank with one stage of one tensor; its four elements are the number of steps. */
class SnapshotsTest {
    private static final Shape SHAPE = Shape.of(4);

    private final Engine engine = new ReferenceEngine(DataType.FLOAT32);
    private final Tensor tensor = engine.allocate(DataType.FLOAT32, SHAPE);
    private final Snapshots snapshots = new Snapshots(false);

    @AfterEach
    void close() {
        snapshots.close();
        tensor.close();
        engine.close();
    }

    @Test
    void shouldKeepTheLastTwoStates() {
        for (int steps = 1; steps <= 4; steps++) {
            keep(steps);
        }
        assertEquals(4, find(4));
        assertEquals(3, find(3));
        assertTrue(snapshots.find(0, 0, 2).isEmpty());
        assertTrue(snapshots.find(1, 0, 4).isEmpty(), "of another rank");
    }

    @Test
    void shouldKeepTheCommittedStateWhileTheNextIsRetaken() {
        keep(1);
        keep(2);
        keep(2);
        assertEquals(1, find(1));
        Tensor closed = engine.allocate(DataType.FLOAT32, SHAPE);
        closed.close();
        for (int attempt = 0; attempt < 3; attempt++) {
            assertThrows(RuntimeException.class, () -> snapshots.keep(0, 0, 2, engine, List.of(named(closed))));
            assertEquals(1, find(1), "what broke off is written over, not the committed one");
        }
        keep(2);
        assertEquals(2, find(2));
    }

    @Test
    void shouldIgnoreASnapshotThatComesLate() {
        keep(3);
        keep(4);
        keep(2);
        assertEquals(3, find(3));
        assertEquals(4, find(4));
    }

    @Test
    void shouldForgetARank() {
        keep(1);
        snapshots.forget(0, 1);
        assertEquals(1, find(1));
        keep(2);
        snapshots.forget(0, 2);
        assertEquals(1, find(1), "next to the state that is to stay");
        snapshots.forget(0, 3);
        assertTrue(snapshots.find(0, 0, 1).isEmpty());
        assertTrue(snapshots.find(0, 0, 2).isEmpty());
    }

    @Test
    void shouldRefuseAMissingTensor() {
        keep(1);
        WeightSource kept = snapshots.find(0, 0, 1).orElseThrow();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(16);
            assertThrows(WeightException.class, () -> kept.read("other", SHAPE, DataType.FLOAT32, target));
            assertThrows(WeightException.class, () -> kept.read("w", Shape.of(2, 2), DataType.FLOAT32, target));
        }
    }

    @Test
    void shouldLeaveAPinnedStateAsItIs() {
        keep(1);
        keep(2);
        try (PinnedState first = snapshots.pin(0, 0, 1).orElseThrow();
                PinnedState second = snapshots.pin(0, 0, 2).orElseThrow()) {
            for (int steps = 3; steps <= 6; steps++) {
                keep(steps);
                assertEquals(1, read(first));
                assertEquals(2, read(second));
                assertEquals(steps, find(steps));
                assertEquals(steps - 1, find(steps - 1));
            }
        }
        assertTrue(snapshots.pin(0, 0, 1).isEmpty(), "it was written over long since");
        keep(7);
        keep(8);
        assertEquals(7, find(7));
        assertEquals(8, find(8));
    }

    @Test
    void shouldOverwriteAStateThatIsNoLongerPinned() {
        keep(1);
        PinnedState pinned = snapshots.pin(0, 0, 1).orElseThrow();
        PinnedState again = snapshots.pin(0, 0, 1).orElseThrow();
        pinned.close();
        keep(1);
        keep(2);
        keep(3);
        assertEquals(1, read(again));
        again.close();
        try (PinnedState next = snapshots.pin(0, 0, 2).orElseThrow()) {
            keep(4);
            assertEquals(2, read(next));
        }
        assertThrows(WeightException.class, () -> read(again), "its memory is used again");
    }

    @Test
    void shouldSurviveForgettingARankWithAPinnedState() {
        keep(1);
        PinnedState pinned = snapshots.pin(0, 0, 1).orElseThrow();
        snapshots.forget(0, 2);
        assertThrows(WeightException.class, () -> read(pinned));
        pinned.close();
        assertTrue(snapshots.pin(0, 0, 1).isEmpty());
    }

    /** A copy comes without what files need to know of it. */
    @Test
    void shouldPinOnlyAStateThatARankKeptHere() {
        IncomingCopy copy = snapshots.accept(0, 0, 1, Snapshots.layoutOf(List.of(named(tensor)))).orElseThrow();
        copy.complete();
        assertTrue(snapshots.find(0, 0, 1).isPresent());
        assertTrue(snapshots.pin(0, 0, 1).isEmpty());
    }

    private static float read(PinnedState pinned) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(16);
            pinned.parts().getFirst().tensor().values().copyTo(target);
            return target.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 12);
        }
    }

    private void keep(int steps) {
        engine.fill(tensor, steps);
        snapshots.keep(0, 0, steps, engine, List.of(named(tensor)));
    }

    private static StateTensor named(Tensor state) {
        return new StateTensor("w", state, TensorSlice.whole(SHAPE), false);
    }

    private float find(int steps) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(16);
            snapshots.find(0, 0, steps).orElseThrow().read("w", SHAPE, DataType.FLOAT32, target);
            return target.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 12);
        }
    }
}
