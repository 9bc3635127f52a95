package dev.troupe.rank.snapshot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.ChildJvm;
import dev.troupe.snapshot.copy.OutgoingCopy;
import dev.troupe.snapshot.copy.SharedSnapshot;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rank 2 keeps its stage 1 here; there, as in another process, its memory is mapped. */
@Timeout(120)
class MappedSnapshotsTest {
    private static final int RANK = 2;
    private static final int STAGE = 1;
    private static final int[] ELEMENTS = {3, 1000};
    private static final int TORN_ELEMENTS = 200_000;
    private static final int TORN_STEPS = 500;

    private final SampleState state = new SampleState(ELEMENTS);
    private final Snapshots here = new Snapshots(true);
    private final Snapshots there = new Snapshots(true);
    private final List<String> openBefore = new ArrayList<>();

    @BeforeEach
    void look() throws IOException {
        openBefore.addAll(sharedMemory());
    }

    @AfterEach
    void close() throws IOException {
        here.close();
        there.close();
        state.close();
        assertEquals(openBefore, sharedMemory(), "shared memory that is open yet");
    }

    /** Returns the open files and mappings of the memory in this process. */
    private static List<String> sharedMemory() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"));
                Stream<String> mapped = Files.lines(Path.of("/proc/self/maps"))) {
            List<Path> all = open.toList();
            return Stream.concat(all.stream().flatMap(one -> {
                try {
                    return Stream.of(Files.readSymbolicLink(one).toString());
                } catch (IOException closedSince) {
                    return Stream.empty();
                }
            }), mapped).filter(name -> name.contains("memfd:troupe-snapshot")).toList();
        }
    }

    @Test
    void shouldFindAStateAsSoonAsItIsComplete() throws IOException {
        share(1);
        share(2);
        for (int steps = 3; steps <= 6; steps++) {
            state.keep(here, RANK, STAGE, steps);
            assertEquals(List.of(steps - 1L, (long) steps), there.versions(RANK, STAGE));
            state.requireKept(there, RANK, STAGE, steps - 1);
            state.requireKept(there, RANK, STAGE, steps);
        }
    }

    @Test
    void shouldNotFindAStateThatIsBeingWritten() throws IOException {
        share(1);
        share(2);
        state.failToKeep(here, RANK, STAGE, 3);
        assertEquals(List.of(2L), there.versions(RANK, STAGE));
        state.requireKept(there, RANK, STAGE, 2);
        state.keep(here, RANK, STAGE, 3);
        state.requireKept(there, RANK, STAGE, 3);
    }

    @Test
    void shouldNotReadAStateThatWasOverwritten() throws IOException {
        share(1);
        WeightSource first = there.find(RANK, STAGE, 1).orElseThrow();
        state.keep(here, RANK, STAGE, 2);
        assertTrue(state.isIn(first, RANK, STAGE, 1));
        state.keep(here, RANK, STAGE, 3);
        assertThrows(WeightException.class, () -> state.isIn(first, RANK, STAGE, 1));
    }

    /** Its rank writes while others read: a read state is whole, or refused. */
    @Test
    void shouldNeverReadATornState() throws Exception {
        try (SampleState large = new SampleState(TORN_ELEMENTS); SampleState same = new SampleState(TORN_ELEMENTS)) {
            for (int steps = 1; steps <= 2; steps++) {
                large.keep(here, RANK, STAGE, steps);
                assertTrue(map(steps));
            }
            Thread rank = Thread.ofPlatform().start(() -> {
                for (int steps = 3; steps <= TORN_STEPS; steps++) {
                    large.keep(here, RANK, STAGE, steps);
                }
            });
            int read = 0;
            boolean isWritten = false;
            while (!isWritten) {
                isWritten = !rank.isAlive(); // and is read once more
                for (long steps : there.versions(RANK, STAGE)) {
                    Optional<WeightSource> kept = there.find(RANK, STAGE, steps);
                    try {
                        assertTrue(kept.isEmpty() || same.isIn(kept.get(), RANK, STAGE, steps), "torn after " + steps);
                        read++;
                    } catch (WeightException writtenOver) {
                        continue;
                    }
                }
            }
            assertTrue(read > 0);
        }
    }

    @Test
    void shouldKeepACompleteStateThatItsOwnerGivesUp() throws IOException {
        share(1);
        share(2);
        here.close();
        state.requireKept(there, RANK, STAGE, 1);
        state.requireKept(there, RANK, STAGE, 2);
    }

    @Test
    void shouldWriteIntoOwnMemoryWhenTheRankMovesToItsCopies() throws IOException {
        share(1);
        share(2);
        state.keep(there, RANK, STAGE, 3);
        state.requireKept(there, RANK, STAGE, 2);
        state.requireKept(there, RANK, STAGE, 3);
        state.keep(there, RANK, STAGE, 4);
        state.requireKept(there, RANK, STAGE, 3);
        assertEquals(List.of(1L, 2L), here.versions(RANK, STAGE), "of whoever shared it");
        state.requireKept(here, RANK, STAGE, 2);
        assertTrue(there.read(RANK, STAGE, 4).orElseThrow().shared().isPresent(), "shares in turn");
    }

    @Test
    void shouldNotShareMappedMemory() throws IOException {
        share(1);
        assertTrue(there.read(RANK, STAGE, 1).orElseThrow().shared().isEmpty());
        assertTrue(there.pin(RANK, STAGE, 1).isEmpty());
    }

    @Test
    void shouldFollowTheRankToOtherMemory() throws IOException {
        share(1);
        share(2);
        try (PinnedState pinned = here.pin(RANK, STAGE, 1).orElseThrow()) {
            for (int steps = 3; steps <= 6; steps++) {
                share(steps);
                assertEquals(List.of(steps - 1L, (long) steps), there.versions(RANK, STAGE));
                state.requireKept(there, RANK, STAGE, steps - 1);
            }
            assertEquals(2, pinned.parts().size());
        }
        share(7);
        state.requireKept(there, RANK, STAGE, 6);
        state.requireKept(there, RANK, STAGE, 7);
    }

    @Test
    void shouldForgetLikeAnyCopy() throws IOException {
        share(1);
        share(2);
        there.forget(RANK, 2);
        state.requireKept(there, RANK, STAGE, 1);
        WeightSource first = there.find(RANK, STAGE, 1).orElseThrow();
        there.forget(RANK, 3);
        assertEquals(List.of(), there.versions(RANK, STAGE));
        assertThrows(WeightException.class, () -> state.isIn(first, RANK, STAGE, 1));
        state.requireKept(here, RANK, STAGE, 2);
    }

    @Test
    void shouldRefuseMissingMemory() throws IOException {
        state.keep(here, RANK, STAGE, 1);
        SharedSnapshot shared = shared(1);
        List<SharedSnapshot> wrong = List.of(
                new SharedSnapshot(shared.process(), shared.descriptor(), shared.token() + 1),
                new SharedSnapshot(shared.process(), 1_000_000, shared.token()),
                new SharedSnapshot(Integer.MAX_VALUE, shared.descriptor(), shared.token()));
        for (SharedSnapshot other : wrong) {
            assertThrows(IOException.class, () -> there.map(RANK, STAGE, 1, other));
        }
        try (Snapshots elsewhere = new Snapshots(false)) {
            assertThrows(IOException.class, () -> elsewhere.map(RANK, STAGE, 1, shared), "it shares nothing");
            state.keep(elsewhere, RANK, STAGE, 1);
            assertTrue(elsewhere.read(RANK, STAGE, 1).orElseThrow().shared().isEmpty());
        }
        assertEquals(List.of(), there.versions(RANK, STAGE));
        assertTrue(map(1));
    }

    @Test
    void shouldReportThatItIsGone() throws IOException {
        state.keep(here, RANK, STAGE, 1);
        SharedSnapshot first = shared(1);
        state.keep(here, RANK, STAGE, 2);
        state.keep(here, RANK, STAGE, 3);
        assertFalse(there.map(RANK, STAGE, 1, first));
    }

    @Test
    @Tag("real")
    void shouldHaveTheLastStateOfAProcessThatWasKilled() throws Exception {
        Process rank = ChildJvm.of(Rank.class).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = rank.inputReader()) {
            for (int steps = 1; steps <= 2; steps++) {
                String[] words = output.readLine().split(" ");
                assertTrue(there.map(RANK, STAGE, steps, new SharedSnapshot(Long.parseLong(words[0]),
                        Integer.parseInt(words[1]), Long.parseLong(words[2]))));
            }
            rank.getOutputStream().write('\n');
            rank.getOutputStream().flush();
            assertEquals("kept 3", output.readLine());
            rank.destroyForcibly();
            assertTrue(rank.waitFor(60, TimeUnit.SECONDS));
        } finally {
            rank.destroyForcibly();
        }
        assertEquals(List.of(2L, 3L), there.versions(RANK, STAGE));
        state.requireKept(there, RANK, STAGE, 2);
        state.requireKept(there, RANK, STAGE, 3);
    }

    /** Another process: it keeps two states and prints their place, a third at a request, and waits for its end. */
    static final class Rank {
        private Rank() {
        }

        public static void main(String[] arguments) throws IOException {
            SampleState state = new SampleState(ELEMENTS);
            Snapshots kept = new Snapshots(true);
            for (int steps = 1; steps <= 2; steps++) {
                state.keep(kept, RANK, STAGE, steps);
                SharedSnapshot shared = kept.read(RANK, STAGE, steps).orElseThrow().shared().orElseThrow();
                System.out.println(shared.process() + " " + shared.descriptor() + " " + shared.token());
            }
            System.in.read();
            state.keep(kept, RANK, STAGE, 3);
            System.out.println("kept 3");
            System.in.read(); // for nothing
        }
    }

    private void share(long steps) throws IOException {
        state.keep(here, RANK, STAGE, steps);
        assertTrue(map(steps));
    }

    private boolean map(long steps) throws IOException {
        return there.map(RANK, STAGE, steps, shared(steps));
    }

    private SharedSnapshot shared(long steps) {
        return here.read(RANK, STAGE, steps).flatMap(OutgoingCopy::shared).orElseThrow();
    }
}
