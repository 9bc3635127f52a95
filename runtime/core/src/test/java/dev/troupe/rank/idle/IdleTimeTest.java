package dev.troupe.rank.idle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.WholeStep;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Time that is added to a step goes to its cause and to its rank. */
@Tag("plan")
class IdleTimeTest {
    private static final int SEEDS = 20;
    private static final List<String> ALL = List.of("gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "zbv");

    private static Plan plan(String schedule) {
        int virtual = List.of("interleaved-1f1b", "zbv", "dualpipev").contains(schedule) ? 2 : 1;
        return new WholeStep(false, false, false, false, false).training(Schedules.named(schedule).plan(4, virtual, 8));
    }

    private static Usual usual(Plan plan) {
        return Usual.UNKNOWN.with(new SimulatedStep(plan, 10_000).run());
    }

    private static void requireSum(StepTimes step, IdleTime idle) {
        for (RankTimes rank : step.ranks()) {
            long computed = 0;
            for (int position = 0; position < rank.ends().length; position++) {
                computed += rank.ends()[position] == 0 ? 0 : Usual.computingNanos(rank, position);
            }
            assertEquals(step.endNanos() - step.fromNanos() - computed,
                    idle.byCause(rank.rank()).values().stream().mapToLong(Long::longValue).sum(),
                    "rank " + rank.rank());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "zbv", "dualpipev"})
    void shouldCallAnUndisturbedStepPlannedButForControlAndDecisions(String schedule) {
        Plan plan = plan(schedule);
        StepTimes step = new SimulatedStep(plan, 10_000).run();
        IdleTime idle = IdleTime.of(step, usual(plan));
        requireSum(step, idle);
        Map<Cause, Long> sums = idle.byCause();
        assertTrue(List.of(Cause.PLAN, Cause.CONTROL, Cause.COMMIT).containsAll(sums.keySet()), sums::toString);
        assertTrue(sums.get(Cause.PLAN) > 0);
    }

    /** A long microbatch is no slow one, and a short step no measure of a long one. */
    @ParameterizedTest
    @ValueSource(strings = {"gpipe", "1f1b", "zb-h1"})
    void shouldCompareAMicrobatchWithOthersOfItsLength(String schedule) {
        Plan plan = plan(schedule);
        Usual usual = Usual.UNKNOWN;
        for (int[] lengths : new int[][]{{16, 16, 32, 16, 48, 16, 16, 16}, {0, 0, 16, 0, 32, 0, 48, 0}}) {
            StepTimes step = new SimulatedStep(plan, 10_000).ofLengths(lengths).run();
            usual = usual.with(step);
            IdleTime idle = IdleTime.of(step, usual);
            requireSum(step, idle);
            Map<Cause, Long> sums = idle.byCause();
            assertTrue(List.of(Cause.PLAN, Cause.CONTROL, Cause.COMMIT).containsAll(sums.keySet()), sums::toString);
        }
        StepTimes slow = new SimulatedStep(plan, 10_000).ofLengths(48, 16, 32, 16, 48, 0, 16, 0)
                .with("compute", 2, new Action(2, Kind.FORWARD, 1), 40_000).run();
        Map<Integer, Long> found = IdleTime.of(slow, usual).byRoot(Cause.PRODUCER);
        assertTrue(found.get(2) >= 0.95 * 3 * 40_000, found::toString);
    }

    /** A disturbance, with the expected cause and rank of its time. */
    private record Trial(String what, int rank, Action action, Cause cause, int root) {
    }

    private static List<Trial> trials(Plan plan) {
        List<Trial> trials = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            for (Action action : plan.rows().get(rank)) {
                if (action.kind().isCompute()) {
                    trials.add(new Trial("compute", rank, action, Cause.PRODUCER, rank));
                    trials.add(new Trial("data", rank, action, Cause.DATA, rank));
                    trials.add(new Trial("late", rank, action, Cause.CONTROL, rank));
                } else if (action.kind().isSend()) {
                    int receiver = plan.rankOf(plan.peer(action));
                    trials.add(new Trial("wire", rank, action, Cause.WIRE, rank));
                    trials.add(new Trial("credit", rank, action, Cause.CREDIT, receiver));
                }
            }
        }
        return trials;
    }

    @Test
    void shouldGiveAddedTimeToItsCauseAndRank() {
        for (String schedule : ALL) {
            Plan plan = plan(schedule);
            Usual usual = usual(plan);
            List<Trial> trials = trials(plan);
            IdleTime before = IdleTime.of(new SimulatedStep(plan, 10_000).run(), usual);
            for (int seed = 0; seed < SEEDS; seed++) {
                Trial trial = trials.get(new Random(seed).nextInt(trials.size()));
                StepTimes step = new SimulatedStep(plan, 10_000)
                        .with(trial.what(), trial.rank(), trial.action(), 40_000).run();
                IdleTime after = IdleTime.of(step, usual);
                requireSum(step, after);
                long added = sum(after) - sum(before);
                long found = after.byRoot(trial.cause()).getOrDefault(trial.root(), 0L)
                        - before.byRoot(trial.cause()).getOrDefault(trial.root(), 0L);
                assertTrue(found >= 0.95 * added, () -> schedule + ", " + trial + ": " + found + " of " + added
                        + " in " + after.byCause());
            }
        }
    }

    private static long sum(IdleTime idle) {
        return idle.byCause().values().stream().mapToLong(Long::longValue).sum();
    }

    @Test
    void shouldNameTheRootThroughARankThatOnlyWaitedItself() {
        Plan plan = plan("1f1b");
        Action slow = new Action(0, Kind.FORWARD, 2);
        IdleTime idle = IdleTime.of(new SimulatedStep(plan, 10_000).with("compute", 0, slow, 9_000).run(),
                usual(plan));
        IdlePart atTheEnd = idle.gaps().stream().filter(gap -> gap.rank() == 3).flatMap(gap -> gap.parts().stream())
                .filter(part -> part.cause() == Cause.PRODUCER).findFirst().orElseThrow();
        assertEquals(new IdlePart(Cause.PRODUCER, atTheEnd.nanos(), 0, slow), atTheEnd);
    }

    @Test
    void shouldCallTimeInWhichTheProcessWasStoppedAPause() {
        Plan plan = plan("1f1b");
        Action held = new Action(1, Kind.FORWARD, 3);
        StepTimes step = new SimulatedStep(plan, 10_000).with("compute", 1, held, 30_000).run();
        int position = step.rows().position(held);
        RankTimes times = step.ranks().get(1);
        long from = times.startNanos(position) + 100;
        List<RankTimes> ranks = new ArrayList<>(step.ranks());
        ranks.set(1, new RankTimes(1, 0, times.beginNanos(), times.starts(), times.ends(), times.moved(),
                times.groupNanos(), times.dataNanos(), times.cpuNanos(), times.creditNanos(), times.bytes(),
                List.of(new RankTimes.Pause(from, from + 30_000))));
        Map<Cause, Long> sums = IdleTime
                .of(new StepTimes(1, step.rows(), ranks, step.nodes(), 0, Cause.COMMIT), usual(plan))
                .byCause();
        assertEquals(0, sums.getOrDefault(Cause.PRODUCER, 0L));
        assertTrue(sums.get(Cause.PAUSE) >= 30_000, sums::toString);
    }

    /** The process is stopped with a message in flight. */
    @Test
    void shouldCallTheTimeOfAStoppedMessageAPause() {
        Plan plan = plan("1f1b");
        Action sent = new Action(0, Kind.SEND_F, 3);
        StepTimes step = new SimulatedStep(plan, 10_000).with("wire", 0, sent, 30_000).run();
        int position = step.rows().position(sent);
        long handed = step.ranks().get(0).movedNanos(position);
        List<RankTimes> ranks = step.ranks().stream()
                .map(times -> new RankTimes(times.rank(), 0, times.beginNanos(), times.starts(), times.ends(),
                        times.moved(), times.groupNanos(), times.dataNanos(), times.cpuNanos(), times.creditNanos(),
                        times.bytes(), List.of(new RankTimes.Pause(handed + 50, handed + 30_050))))
                .toList();
        Map<Cause, Long> sums = IdleTime
                .of(new StepTimes(1, step.rows(), ranks, step.nodes(), 0, Cause.COMMIT), usual(plan)).byCause();
        assertEquals(0, sums.getOrDefault(Cause.WIRE, 0L), sums::toString);
        assertTrue(sums.get(Cause.PAUSE) >= 3 * 29_000, sums::toString);
    }

    @Test
    void shouldGiveTheTimeBetweenTwoStepsToItsCause() {
        Plan plan = plan("gpipe");
        StepTimes step = new SimulatedStep(plan, 10_000).run();
        StepTimes behind = new StepTimes(2, step.rows(), step.ranks(), step.nodes(), 4_000, Cause.STATE);
        Map<Cause, Long> sums = IdleTime.of(behind, usual(plan)).byCause();
        assertEquals(4 * 6_000, sums.get(Cause.STATE), 100);
    }

    /** The rank that is slow between the exchanges of its group waits least, whether it began first or last. */
    @Test
    void shouldNameTheRankOfAGroupThatTheOthersWaitedFor() {
        Plan plan = plan("1f1b");
        StepTimes alone = new SimulatedStep(plan, 10_000).run();
        int position = alone.rows().position(new Action(1, Kind.FORWARD, 0));
        for (int slow : List.of(6, 7)) {
            List<RankTimes> ranks = new ArrayList<>();
            for (int rank = 0; rank < 4 * 4; rank++) { // two pipelines of two ranks a stage
                RankTimes one = alone.ranks().get(rank / 4);
                ranks.add(new RankTimes(rank, 0, one.beginNanos(), one.starts(), one.ends(), one.moved(),
                        one.groupNanos().clone(), one.dataNanos(), one.cpuNanos(), one.creditNanos(), one.bytes(),
                        List.of()));
            }
            int waits = slow == 6 ? 7 : 6;
            ranks.get(waits).groupNanos()[position] = 400;
            StepTimes step = new StepTimes(1, StepTimes.Rows.of(plan, 2, 2), ranks, Collections.nCopies(16, "a"), 0,
                    Cause.COMMIT);
            assertEquals(Set.of(slow), IdleTime.of(step, usual(plan)).byRoot(Cause.GROUP).keySet());
        }
    }

    /**
     * Rank 1 is lost in a step. Its successor receives the step later, takes the tensors again that had been handed over
     * before, and repeats gradients that had landed: the time until then is the recovery's, and no message became slow or
     * quick.
     */
    @Test
    void shouldCallTheTimeWithoutARankRecovery() {
        Plan plan = new WholeStep(false, false, false, false, false).training(Schedules.named("1f1b").plan(2, 1, 8));
        StepTimes step = new SimulatedStep(plan, 10_000).run();
        long lost = 50_000;
        List<RankTimes> ranks = new ArrayList<>();
        for (RankTimes one : step.ranks()) {
            ranks.add(one.rank() == 1 ? one.shifted(lost) : one);
        }
        RankTimes again = ranks.get(1);
        RankTimes waits = ranks.get(0);
        for (int position = 0; position < waits.ends().length; position++) { // all behind its first forwards
            Action action = step.rows().row(0).get(position);
            if (waits.starts()[position] > 3_000) {
                waits.starts()[position] += lost;
                waits.ends()[position] += lost;
            }
            if (action.kind().isReceive() && action.microbatch() > 0
                    || action.kind().isSend() && action.microbatch() >= 2) {
                waits.moved()[position] += lost;
            }
        }
        for (int microbatch = 0; microbatch < 2; microbatch++) { // sent again when it begins
            again.moved()[step.rows().position(new Action(1, Kind.RECV_F, microbatch))] = SimulatedStep.WIRE;
        }
        StepTimes recovered = new StepTimes(1, step.rows(), ranks, step.nodes(), 0, Cause.RECOVERY);
        Map<Cause, Long> sums = IdleTime.of(recovered, usual(plan)).byCause();
        assertTrue(sums.getOrDefault(Cause.RECOVERY, 0L) >= 0.9 * lost, sums::toString);
        assertTrue(sums.getOrDefault(Cause.WIRE, 0L) < 0.1 * lost, sums::toString);
        Action repeated = new Action(0, Kind.RECV_B, 0);
        assertTrue(Message.to(recovered, 0, repeated).isAgain());
        assertTrue(Usual.UNKNOWN.with(recovered).nanos(recovered, 0, repeated) >= SimulatedStep.WIRE, again::toString);
    }
}
