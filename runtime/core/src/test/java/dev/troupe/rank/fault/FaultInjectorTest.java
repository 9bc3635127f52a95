package dev.troupe.rank.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.plan.checkpoint.CheckpointException;
import dev.troupe.plan.error.InjectedFault;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
@Timeout(60)
class FaultInjectorTest {
    @TempDir
    private Path directory;

    /** Notes the damage to the process instead of doing it. */
    private static final class Notes implements NodeDamage {
        private final List<String> done = new ArrayList<>();
        private boolean leads;

        @Override
        public void exit() {
            done.add("exit");
        }

        @Override
        public void kill() {
            done.add("kill");
        }

        @Override
        public void freeze(Duration length) {
            done.add("freeze " + length);
        }

        @Override
        public void collectGarbage(Duration length) {
            done.add("collect garbage " + length);
        }

        @Override
        public void killDriver() {
            done.add("kill the driver");
        }

        @Override
        public void cutControl(Duration length) {
            done.add("cut control " + length);
        }

        @Override
        public void cutData(Duration length) {
            done.add("cut data " + length);
        }

        @Override
        public boolean leads() {
            return leads;
        }
    }

    private final Notes notes = new Notes();

    private FaultInjector injector(String... faults) {
        return FaultInjector.of(Stream.of(faults).map(text -> FaultSpec.parse(text, "", "")).toList(), directory,
                "node-0", notes);
    }

    @Test
    void shouldDoNothingWithoutFaults() {
        assertSame(FaultInjector.NONE, injector());
        FaultInjector.NONE.at(FaultPoint.FORWARD, 0, 0, 0, 0);
        assertEquals(5, FaultInjector.NONE.around(FaultPoint.FORWARD, 0, 0, 0, 0, () -> 5));
        assertFalse(FaultInjector.NONE.losesSnapshot(0, 0, 0));
        assertFalse(Files.exists(directory.resolve(FaultLog.FILE)));
    }

    @Test
    void shouldStrikeAtItsPlaceOnly() {
        FaultInjector injector = injector("exception rank=1 stage=2 step=5 microbatch=3 at=F");
        injector.at(FaultPoint.BACKWARD, 1, 2, 5, 3);
        injector.at(FaultPoint.FORWARD, 0, 2, 5, 3);
        injector.at(FaultPoint.FORWARD, 1, 1, 5, 3);
        injector.at(FaultPoint.FORWARD, 1, 2, 4, 3);
        injector.at(FaultPoint.FORWARD, 1, 2, 5, 2);
        InjectedFault fault = assertThrows(InjectedFault.class, () -> injector.at(FaultPoint.FORWARD, 1, 2, 5, 3));
        assertEquals("injected: exception rank=1 stage=2 step=5 microbatch=3 at=F", fault.getMessage());
    }

    @Test
    void shouldLogEachFaultWithItsSite() {
        FaultInjector injector = injector("hang step=9", "exception at=optimizer");
        long before = System.currentTimeMillis();
        assertThrows(InjectedFault.class, () -> injector.at(FaultPoint.OPTIMIZER, 1, 3, 7));
        FiredFault fired = FaultLog.read(directory).getFirst();
        assertEquals(new FiredFault(fired.timeMillis(), "exception at=optimizer", 1, "node-0", FaultPoint.OPTIMIZER, 1,
                3, 7, -1, Optional.empty()), fired);
        assertTrue(fired.timeMillis() >= before && fired.timeMillis() <= System.currentTimeMillis());
    }

    @Test
    void shouldNotStrikeAgainInAnotherProcess() {
        assertThrows(InjectedFault.class, () -> injector("exception stage=1").at(FaultPoint.FORWARD, 1, 1, 0, 0));
        FaultInjector later = injector("exception stage=1");
        later.at(FaultPoint.FORWARD, 1, 1, 0, 0);
        later.at(FaultPoint.FORWARD, 1, 1, 1, 0);
        assertEquals(1, FaultLog.read(directory).size());
    }

    @Test
    void shouldStrikeInARunThatContinuesWithOtherFaults() {
        assertThrows(InjectedFault.class, () -> injector("exception stage=1").at(FaultPoint.FORWARD, 1, 1, 0, 0));
        assertThrows(InjectedFault.class, () -> injector("exception stage=2").at(FaultPoint.FORWARD, 1, 2, 0, 0));
    }

    @Test
    void shouldDistinguishAGradientFromTheActivationOfItsStageAndMicrobatch() {
        FaultInjector injector = injector("exception at=send times=2", "out-of-memory message=gradient at=send");
        assertThrows(InjectedFault.class,
                () -> injector.at(FaultPoint.SEND, 1, 1, 0, 0, FaultMessage.ACTIVATION));
        injector.at(FaultPoint.SEND, 1, 1, 0, 0, FaultMessage.ACTIVATION); // a replay
        assertThrows(InjectedFault.class, () -> injector.at(FaultPoint.SEND, 1, 1, 0, 0, FaultMessage.GRADIENT));
        assertThrows(OutOfMemoryError.class, () -> injector.at(FaultPoint.SEND, 1, 1, 0, 0, FaultMessage.GRADIENT));
        assertEquals(List.of(FaultMessage.ACTIVATION, FaultMessage.GRADIENT, FaultMessage.GRADIENT),
                FaultLog.read(directory).stream().map(fired -> fired.message().orElseThrow()).toList());
    }

    @Test
    void shouldDistinguishTwoFaultsWithTheSameText() {
        FaultInjector injector = injector("exception step=1", "exception step=1");
        assertThrows(InjectedFault.class, () -> injector.at(FaultPoint.FORWARD, 0, 0, 1, 0));
        assertThrows(InjectedFault.class, () -> injector.at(FaultPoint.FORWARD, 0, 0, 1, 1));
        injector.at(FaultPoint.FORWARD, 0, 0, 1, 2);
    }

    @Test
    void shouldStrikeTheGivenNumberOfTimesAndNeverTwiceAtOneSite() {
        FaultInjector injector = injector("exception at=F times=2");
        assertThrows(InjectedFault.class, () -> injector.at(FaultPoint.FORWARD, 0, 0, 0, 0));
        injector.at(FaultPoint.FORWARD, 0, 0, 0, 0); // a replay
        assertThrows(InjectedFault.class, () -> injector.at(FaultPoint.FORWARD, 0, 0, 0, 1));
        injector.at(FaultPoint.FORWARD, 0, 0, 0, 2);
    }

    @Test
    void shouldDrawTheSamePlacesFromTheSameSeed() {
        List<Integer> first = struck("exception at=F probability=0.3 seed=7", "a");
        assertEquals(first, struck("exception at=F probability=0.3 seed=7", "b"));
        assertTrue(!first.equals(struck("exception at=F probability=0.3 seed=8", "c")), "the seed changes nothing");
        assertTrue(first.size() > 30 && first.size() < 90, first::toString);
    }

    private List<Integer> struck(String fault, String run) {
        Path home = directory.resolve(run);
        assertTrue(home.toFile().mkdir());
        FaultInjector injector = FaultInjector.of(List.of(FaultSpec.parse(fault, "", "")), home, "node-0", notes);
        return IntStream.range(0, 200).filter(microbatch -> {
            try {
                injector.at(FaultPoint.FORWARD, 0, 0, 0, microbatch);
                return false;
            } catch (InjectedFault _) {
                return true;
            }
        }).boxed().toList();
    }

    @Test
    void shouldThrowAnError() {
        assertThrows(OutOfMemoryError.class,
                () -> injector("out-of-memory").around(FaultPoint.BACKWARD, 0, 0, 0, 0, () -> 1));
    }

    @Test
    void shouldHangUntilTheRankIsGivenUp() throws Exception {
        FaultInjector injector = injector("hang rank=3");
        CompletableFuture<Void> hanging = CompletableFuture
                .runAsync(() -> injector.at(FaultPoint.FORWARD, 3, 3, 0, 0));
        awaitStruck();
        injector.retire(2);
        assertFalse(hanging.isDone());
        injector.retire(3);
        requireEnded(hanging);
    }

    @Test
    void shouldHangNoLongerThanItsNodeLives() throws Exception {
        FaultInjector injector = injector("hang rank=3");
        CompletableFuture<Void> hanging = CompletableFuture
                .runAsync(() -> injector.at(FaultPoint.FORWARD, 3, 3, 0, 0));
        awaitStruck();
        injector.close();
        requireEnded(hanging);
    }

    private void awaitStruck() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (FaultLog.read(directory).isEmpty()) {
            assertTrue(System.nanoTime() - deadline < 0, "nothing struck");
            Thread.onSpinWait();
        }
    }

    private static void requireEnded(CompletableFuture<Void> hanging) {
        ExecutionException end = assertThrows(ExecutionException.class, () -> hanging.get(30, TimeUnit.SECONDS));
        assertEquals(InjectedFault.class, end.getCause().getClass());
    }

    @Test
    void shouldTakeAFactorOfTheTimeOfTheAction() {
        FaultInjector injector = injector("slow factor=5 at=F");
        long[] tookNanos = new long[1];
        long start = injector.around(FaultPoint.FORWARD, 0, 0, 0, 0, () -> {
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < 20_000_000) {
                Thread.onSpinWait();
            }
            tookNanos[0] = System.nanoTime() - begin;
            return begin;
        });
        assertTrue(System.nanoTime() - start >= 5 * tookNanos[0]);
    }

    @Test
    void shouldDelayTheReadingOfAStage() {
        FaultInjector injector = injector("late-data stage=1 step=2 microbatch=3 seconds=0.05");
        injector.at(FaultPoint.FORWARD, 1, 1, 2, 3);
        injector.reads(0, 0, 2, 3);
        assertEquals(List.of(), FaultLog.read(directory));
        long start = System.nanoTime();
        injector.reads(1, 1, 2, 3);
        assertTrue(System.nanoTime() - start >= 50_000_000);
    }

    @Test
    void shouldStopTheActorOfTheRank() {
        FaultInjector injector = injector("stop-schedule-actor stage=1");
        List<String> stopped = new ArrayList<>();
        injector.onStop(0, _ -> stopped.add("rank 0"));
        injector.onStop(1, failure -> stopped.add(failure.getMessage()));
        injector.at(FaultPoint.FORWARD, 1, 1, 0, 0);
        assertEquals(List.of("injected: stop-schedule-actor stage=1"), stopped);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', value = {"exit ! exit", "kill ! kill", "freeze seconds=0.5 ! freeze PT0.5S",
            "collect-garbage ! collect garbage PT1S", "kill-driver ! kill the driver", "cut-control ! cut control PT5S",
            "cut-data seconds=2 ! cut data PT2S",
            "cut-both ! cut control PT5S, cut data PT5S"})
    void shouldDamageTheNode(String fault, String expected) {
        injector(fault).at(FaultPoint.FORWARD, 0, 0, 0, 0);
        assertEquals(expected, String.join(", ", notes.done));
    }

    @Test
    void shouldKillTheCoordinatorsProcessOnly() {
        FaultInjector injector = injector("kill-coordinator step=1");
        injector.at(FaultPoint.FORWARD, 0, 0, 1, 0);
        assertEquals(List.of(), notes.done);
        notes.leads = true;
        injector.at(FaultPoint.FORWARD, 0, 0, 1, 1);
        assertEquals(List.of("kill"), notes.done);
    }

    @Test
    void shouldFillTheDiskWhenACheckpointIsWritten() {
        FaultInjector injector = injector("disk-full");
        injector.at(FaultPoint.FORWARD, 0, 0, 1, 0);
        CheckpointException refusal = assertThrows(CheckpointException.class,
                () -> injector.at(FaultPoint.CHECKPOINT, 0, 0, 1));
        assertTrue(refusal.getMessage().contains("No space left on device"), refusal.getMessage());
    }

    @Test
    void shouldLoseASnapshotAndDamageACheckpointOnce() {
        FaultInjector injector = injector("lose-snapshot stage=1", "corrupt-checkpoint step=3");
        assertFalse(injector.losesSnapshot(0, 0, 3));
        assertTrue(injector.losesSnapshot(1, 1, 3));
        assertFalse(injector.losesSnapshot(1, 1, 4));
        assertTrue(injector.corruptsCheckpoint(0, 0, 3));
        assertFalse(injector.corruptsCheckpoint(1, 1, 3));
    }

    @Test
    void shouldPutTheClockAhead() {
        FaultInjector injector = injector("clock-jump seconds=10");
        var clock = injector.clock(() -> 5);
        assertEquals(5, clock.getAsLong());
        injector.at(FaultPoint.FORWARD, 0, 0, 0, 0);
        assertEquals(10_000_000_005L, clock.getAsLong());
        assertNotNull(FaultLog.read(directory).getFirst());
    }
}
