package dev.troupe.rank.snapshot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.snapshot.copy.IncomingCopy;
import dev.troupe.snapshot.copy.OutgoingCopy;
import dev.troupe.snapshot.copy.SnapshotLayout;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rank 2 keeps its stage 1 on one node; another node takes copies of it. */
class CopiedSnapshotsTest {
    private final SampleState state = new SampleState(3, 1000);
    private final Snapshots here = new Snapshots(false);
    private final Snapshots there = new Snapshots(false);

    @AfterEach
    void close() {
        here.close();
        there.close();
        state.close();
    }

    @Test
    void shouldFindACopyLikeAnOwnOneOnceItIsWhole() {
        state.keep(here, 2, 1, 5);
        IncomingCopy copy = accept(5);
        copyAll(5, copy);
        assertEquals(List.of(), there.versions(2, 1));
        assertTrue(there.find(2, 1, 5).isEmpty(), "before it is whole");
        assertTrue(copy.complete());
        state.requireKept(there, 2, 1, 5);
        assertEquals(List.of(5L), there.versions(2, 1));
    }

    @Test
    void shouldKeepTheEarlierStateUntilTheLaterOneIsComplete() {
        for (int steps = 1; steps <= 4; steps++) {
            copy(steps);
        }
        assertEquals(List.of(3L, 4L), there.versions(2, 1));
        state.keep(here, 2, 1, 5);
        accept(5).write(0, MemorySegment.ofArray(new byte[8]));
        for (int again = 0; again < 3; again++) { // comes to no end three times
            accept(5);
            assertEquals(List.of(4L), there.versions(2, 1));
            state.requireKept(there, 2, 1, 4);
        }
        copy(6);
        assertEquals(List.of(4L, 6L), there.versions(2, 1));
    }

    @Test
    void shouldNotTakeOneThatIsHere() {
        copy(4);
        state.keep(here, 2, 1, 4);
        assertTrue(there.accept(2, 1, 4, layout(4)).isEmpty());
        state.requireKept(there, 2, 1, 4);
    }

    @Test
    void shouldContinueWhenARankMovesToItsCopies() {
        copy(1);
        copy(2);
        state.keep(there, 2, 1, 3);
        assertEquals(List.of(2L, 3L), there.versions(2, 1));
        state.keep(there, 2, 1, 4);
        state.requireKept(there, 2, 1, 3);
        state.requireKept(there, 2, 1, 4);
    }

    @Test
    void shouldLeaveTheMemoryToARankThatOverwritesAnUnfinishedCopy() {
        copy(1);
        state.keep(here, 2, 1, 2);
        IncomingCopy late = accept(2);
        state.keep(there, 2, 1, 2);
        assertFalse(late.write(0, MemorySegment.ofArray(new byte[4])));
        assertFalse(late.complete());
        state.requireKept(there, 2, 1, 2);
    }

    @Test
    void shouldStopReadingASnapshotThatIsOverwritten() {
        state.keep(here, 2, 1, 1);
        OutgoingCopy reading = here.read(2, 1, 1).orElseThrow();
        WeightSource kept = here.find(2, 1, 1).orElseThrow();
        state.keep(here, 2, 1, 2);
        assertTrue(state.isIn(kept, 2, 1, 1), "the earlier of two is complete");
        state.keep(here, 2, 1, 3);
        assertFalse(reading.read(0, MemorySegment.ofArray(new byte[4])));
        assertThrows(WeightException.class, () -> state.isIn(kept, 2, 1, 1));
    }

    @Test
    void shouldTakeARankOfOtherTensors() {
        copy(1);
        copy(2);
        try (SampleState other = new SampleState(10)) {
            other.keep(there, 2, 1, 3);
            other.requireKept(there, 2, 1, 3);
            assertEquals(List.of(2L, 3L), there.versions(2, 1));
        }
    }

    @Test
    void shouldFreeTheMemoryOfForgottenSnapshots() {
        state.keep(here, 2, 1, 1);
        OutgoingCopy reading = here.read(2, 1, 1).orElseThrow();
        IncomingCopy writing = accept(1);
        there.forget(2, 1);
        assertTrue(writing.write(0, MemorySegment.ofArray(new byte[4])), "it is of a step that is to stay");
        here.forget(2, 2);
        there.forget(2, 2);
        assertEquals(List.of(), here.versions(2, 1));
        assertFalse(reading.read(0, MemorySegment.ofArray(new byte[4])));
        assertFalse(writing.write(0, MemorySegment.ofArray(new byte[4])));
        copy(1);
        state.requireKept(there, 2, 1, 1);
    }

    private SnapshotLayout layout(long steps) {
        return here.read(2, 1, steps).orElseThrow().layout();
    }

    private IncomingCopy accept(long steps) {
        return there.accept(2, 1, steps, layout(steps)).orElseThrow();
    }

    private void copyAll(long steps, IncomingCopy copy) {
        OutgoingCopy reading = here.read(2, 1, steps).orElseThrow();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(reading.layout().byteCount());
            assertTrue(reading.read(0, all));
            assertTrue(copy.write(0, all.asSlice(0, 1000)));
            assertTrue(copy.write(1000, all.asSlice(1000)));
        }
    }

    private void copy(long steps) {
        state.keep(here, 2, 1, steps);
        IncomingCopy copy = accept(steps);
        copyAll(steps, copy);
        assertTrue(copy.complete());
    }
}
