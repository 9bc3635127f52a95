package dev.troupe.rank;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.watch.StageTime;
import dev.troupe.rank.bits.RankBits;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.rank.warmup.WarmUpGroups;
import dev.troupe.rank.warmup.WarmUpTransport;
import dev.troupe.run.actor.SmallRun;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The telemetry of a rank that has the whole model, so that its row waits for nobody. */
@Tag("actor")
class RankTelemetryTest implements RankTelemetry.Receiver {
    private static final Pass PASS = new Pass(0, Pass.Kind.TRAINING);

    @TempDir
    private Path home;
    private final SmallRun run = new SmallRun();
    private final List<List<StageTime>> timed = new ArrayList<>();
    private final List<RankTimes> traced = new ArrayList<>();
    private final List<RankBits> digested = new ArrayList<>();
    private boolean isElsewhere;
    private RankResources rank;

    @AfterEach
    void close() {
        rank.letGo();
        rank.close(System.nanoTime() + TimeUnit.SECONDS.toNanos(10));
        run.close();
    }

    @Override
    public boolean isElsewhere() {
        return isElsewhere;
    }

    @Override
    public void timed(long step, List<StageTime> times) {
        timed.add(times);
    }

    @Override
    public void traced(long step, RankTimes times) {
        traced.add(times);
    }

    @Override
    public void digested(long step, RankBits bits) {
        digested.add(bits);
    }

    private RankTelemetry open(int microbatches) {
        TrainingPlan plan = TrainingPlan.of(SmallRun.MODEL,
                new StageSettings(1, 4, microbatches, new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1)), "uniform",
                Schedules.named("1f1b"), new ParallelLayout(1, 1, 1), false, Zero.NONE, 1, 1, 2);
        rank = new RankResources(new Incarnation(0, 0, 0), 0, run.context(plan, new WarmUpTransport(),
                new WarmUpGroups(plan.ranks()), Optional.empty(), SmallRun::reference, RankResources.NOTHING, home));
        return rank.telemetry(this);
    }

    private List<Action> row() {
        return rank.plan().row(PASS.kind(), 0).actions();
    }

    private void step(RankTelemetry telemetry) {
        StageWorker stage = rank.open(0);
        telemetry.passStarted(PASS);
        for (Action action : row()) {
            stage.run(new ActionRequest(action, List.of(), PASS, Optional.of(new WeightUpdate(0, 0, 1, 1, false))));
            telemetry.actionEnded(PASS, action, stage.lastNanos());
        }
        telemetry.stepMeasured(PASS, 0);
        telemetry.updated(0);
    }

    @Test
    void shouldReportTimesTraceAndDigestsOfAStep() {
        step(open(2));

        StageTime time = timed.getFirst().getFirst();
        assertTrue(time.forward() > 0 && time.backward() > 0, time.toString());
        RankTimes times = traced.getFirst();
        assertEquals(row().size(), times.ends().length);
        assertTrue(Arrays.stream(times.ends()).allMatch(end -> end > 0));
        assertEquals(2, digested.size(), "the digests before the update, and of the weights");
        assertEquals(digested.get(0).values().length, digested.get(1).first());
        assertTrue(digested.stream().flatMapToLong(bits -> Arrays.stream(bits.values()))
                .anyMatch(digest -> digest != RankBits.NONE));
    }

    @Test
    void shouldReportThatMuchToAnotherProcessToo() {
        isElsewhere = true;
        step(open(2));
        assertEquals(1, timed.size());
        assertEquals(1, traced.size());
        assertEquals(2, digested.size());
    }

    @Test
    void shouldLeaveOutReportsThatDoNotFitAMessageToAnotherProcess() {
        isElsewhere = true;
        RankTelemetry telemetry = open(RankTelemetry.MOST_DIGESTS_ELSEWHERE);
        telemetry.passStarted(PASS);
        telemetry.stepMeasured(PASS, 0);
        telemetry.updated(0);
        assertEquals(1, timed.size());
        assertEquals(0, traced.size());
        assertEquals(1, digested.size(), "of the weights");
        isElsewhere = false;
        telemetry.stepMeasured(PASS, 0);
        telemetry.updated(0);
        assertEquals(1, traced.size());
        assertEquals(3, digested.size());
    }

    @Test
    void shouldReportNothingOfValidation() {
        RankTelemetry telemetry = open(2);
        Pass validation = new Pass(0, Pass.Kind.VALIDATION);
        telemetry.passStarted(validation);
        telemetry.actionEnded(validation, Action.parse("0F0"), 7);
        telemetry.stepMeasured(validation, 0);
        assertEquals(0, timed.size() + traced.size() + digested.size());
    }
}
