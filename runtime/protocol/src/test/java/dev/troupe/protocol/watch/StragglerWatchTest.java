package dev.troupe.protocol.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Four stages on four ranks on two nodes, a forward of 10 ms and a backward of 20, but the last has twice as much. */
@Tag("plan")
class StragglerWatchTest {
    private static final List<String> HOSTS = List.of("a", "a", "b", "b");
    private static final double[] SIZES = {1, 1, 1, 2};
    private static final IntToDoubleFunction EVEN = _ -> 1;

    private final StragglerWatch watch = new StragglerWatch((stage, kind) -> SIZES[stage] * (kind == Kind.FORWARD
            ? 1
            : kind == Kind.FULL_BACKWARD ? 2 : 0), () -> this.load);
    private final List<Notice> said = new ArrayList<>();
    private List<String> hosts = HOSTS;
    private Optional<MachineLoad> load = Optional.of(new MachineLoad(12, 2));
    private int step;

    /** Runs a number of steps in which each stage takes its usual time, times its factor. */
    private void steps(int count, IntToDoubleFunction forward, IntToDoubleFunction backward) {
        for (int end = step + count; step < end; step++) {
            Map<Integer, List<StageTime>> times = new TreeMap<>();
            for (int stage = 0; stage < SIZES.length; stage++) {
                times.put(stage,
                        List.of(new StageTime(stage, (long) (10e6 * SIZES[stage] * forward.applyAsDouble(stage)),
                                (long) (20e6 * SIZES[stage] * backward.applyAsDouble(stage)), 0, 0)));
            }
            said.addAll(watch.onStep(step + 1, 0, hosts, times));
        }
    }

    private void steps(int count, IntToDoubleFunction slowness) {
        steps(count, slowness, slowness);
    }

    private static IntToDoubleFunction slow(int slowStage, double times) {
        return stage -> stage == slowStage ? times : 1;
    }

    @Test
    void shouldNameAStageThatBecomesSlowOnceAndReportThatItIsOver() {
        steps(20, EVEN);
        steps(10, slow(1, 3));
        assertEquals(
                List.of("stage 1 (rank 1, node a) is a straggler: its F and B take 3.0 times as long as at its best,"
                        + " 90 ms against 30 ms"),
                said.stream().map(Notice::sentence).toList());
        assertEquals(Notice.Kind.STRAGGLER, said.getFirst().kind());
        assertTrue(said.getFirst().stepsDone() <= 30);
        assertEquals(3, said.getFirst().times(), 1e-9);
        steps(30, slow(1, 3));
        steps(20, EVEN);
        assertEquals(List.of(Notice.Kind.STRAGGLER, Notice.Kind.STRAGGLER_ENDED),
                said.stream().map(Notice::kind).toList());
        assertEquals("a", said.getLast().node());
    }

    @Test
    void shouldNameAStageThatIsSlowFromItsFirstStepWithinTen() {
        steps(10, slow(3, 3));
        assertEquals(List.of(3), said.getFirst().stages());
        assertTrue(said.getFirst().sentence().contains("3.0 times the time predicted from the other stages"),
                said.getFirst().sentence());
        steps(20, slow(3, 3));
        assertEquals(1, said.size());
    }

    @Test
    void shouldNameOneOfTwoRanksWhicheverItIs() {
        for (int slow : new int[]{0, 1}) {
            StragglerWatch two = new StragglerWatch((_, _) -> 1, Optional::empty);
            List<Notice> notices = new ArrayList<>();
            for (int done = 1; done <= 10; done++) {
                notices.addAll(two.onStep(done, 0, List.of("a", "b"), Map.of(0,
                        List.of(new StageTime(0, slow == 0 ? 30 : 10, 0, 0, 0)), 1,
                        List.of(new StageTime(1, slow == 1 ? 30 : 10, 0, 0, 0)))));
            }
            assertEquals(List.of(List.of(slow)), notices.stream().map(Notice::ranks).toList());
            assertEquals(List.of(10L), notices.stream().map(Notice::stepsDone).toList());
        }
    }

    @Test
    void shouldNameTheKindOfActionThatIsSlow() {
        steps(20, EVEN);
        steps(10, slow(2, 3), EVEN);
        assertTrue(said.getFirst().sentence().startsWith("stage 2 (rank 2, node b) is a straggler: its F takes 3.0"),
                said.getFirst().sentence());
    }

    @Test
    void shouldReportWhenAStragglerBecomesMuchSlower() {
        steps(20, EVEN);
        steps(10, slow(1, 3));
        steps(10, slow(1, 6));
        assertEquals(List.of(Notice.Kind.STRAGGLER, Notice.Kind.STRAGGLER_CHANGED),
                said.stream().map(Notice::kind).toList());
        assertEquals(6, said.getLast().times(), 1e-9);
    }

    @Test
    void shouldTakeUnequalStagesForNoStragglers() {
        StragglerWatch unequal = new StragglerWatch((stage, _) -> SIZES[stage], Optional::empty);
        for (int done = 1; done <= 50; done++) {
            Map<Integer, List<StageTime>> times = new TreeMap<>();
            IntStream.range(0, 4).forEach(stage -> times.put(stage,
                    List.of(new StageTime(stage, (long) (1e6 * SIZES[stage]), 0, 0, 0))));
            assertEquals(List.of(), unequal.onStep(done, 0, HOSTS, times));
        }
    }

    @Test
    void shouldBlameNobodyIfAllAreSlower() {
        steps(20, EVEN);
        steps(20, _ -> 2.5);
        assertEquals(List.of(Notice.Kind.ALL_SLOWER), said.stream().map(Notice::kind).toList());
        steps(20, EVEN);
        assertEquals(List.of(Notice.Kind.ALL_SLOWER, Notice.Kind.ALL_SLOWER_ENDED),
                said.stream().map(Notice::kind).toList());
    }

    @Test
    void shouldIgnoreTwoBadStepsAndASlowStart() {
        steps(3, slow(0, 40));
        steps(20, EVEN);
        steps(2, slow(1, 50));
        steps(10, EVEN);
        assertEquals(List.of(), said);
    }

    /**
     * Each action's time wobbles by half, one step in fifteen is three times as long, and all four drift together at times.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void shouldNotBeAlarmedByNoise(long seed) {
        Random random = new Random(seed);
        for (int count = 0; count < 1000; count++) {
            double together = 1 + 0.2 * Math.sin(count / 30.0);
            double[] noise = IntStream.range(0, 4).mapToDouble(
                    _ -> together * (1 + 0.5 * random.nextDouble()) * (random.nextInt(15) == 0 ? 3 : 1)).toArray();
            steps(1, stage -> noise[stage]);
        }
        assertEquals(List.of(), said.stream().map(Notice::sentence).toList(), "seed " + seed);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void shouldNameAStragglerAmongNoiseWithinTenSteps(long seed) {
        Random random = new Random(seed);
        for (int count = 0; count < 60; count++) {
            double[] noise = IntStream.range(0, 4).mapToDouble(_ -> 1 + 0.3 * random.nextDouble()).toArray();
            if (count >= 50) {
                noise[2] *= 3;
            }
            steps(1, stage -> noise[stage]);
        }
        assertEquals(List.of(List.of(2)), said.stream().map(Notice::stages).toList(), "seed " + seed);
    }

    @Test
    void shouldMeasureARankAnewAfterItMoves() {
        steps(20, EVEN);
        hosts = List.of("a", "a", "a", "a");
        steps(30, _ -> 2.5);
        assertEquals(List.of(), said);
    }

    @Test
    void shouldLookAtNoRankAlone() {
        StragglerWatch alone = new StragglerWatch((_, _) -> 1, Optional::empty);
        for (int done = 1; done <= 40; done++) {
            assertEquals(List.of(), alone.onStep(done, 0, List.of("a"),
                    Map.of(0, List.of(new StageTime(0, done > 20 ? 90 : 10, 0, 0, 0)))));
        }
    }

    /** Twelve runnable threads: the four ranks' and twice the cores. */
    @Test
    void shouldNameALoadedMachineBeforeAStraggler() {
        load = Optional.of(new MachineLoad(13, 2));
        steps(20, EVEN);
        assertEquals(List.of(), said, "nothing is slow");
        steps(10, slow(1, 3));
        assertEquals(List.of(Notice.Kind.OVERLOADED, Notice.Kind.STRAGGLER), said.stream().map(Notice::kind).toList());
        assertEquals("the machine itself is overloaded: 13 runnable threads for 2 cores, so the stage that is named"
                + " next may be slow by chance", said.getFirst().sentence());
        assertEquals(6.5, said.getFirst().times());
    }
}
