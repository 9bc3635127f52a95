package dev.troupe.rank;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Pass;
import dev.troupe.rank.group.RankGroups;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.run.actor.SmallRun;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import dev.troupe.transport.Transport;
import dev.troupe.weights.WeightSource;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The warm-up of a node without ranks; any part of the run that it might touch fails at the first call. */
@Tag("actor")
class WarmUpTest {
    private static final long PATIENCE_SECONDS = 30;

    @TempDir
    private Path home;
    private final SmallRun run = new SmallRun();
    private final BlockingQueue<String> news = new ArrayBlockingQueue<>(10);

    @AfterEach
    void close() {
        run.close();
    }

    @ParameterizedTest
    @CsvSource({"1f1b, 1, 2, 1, 1, NONE, false", "zb-h1, 1, 2, 1, 1, NONE, false",
            "interleaved-1f1b, 2, 2, 1, 1, NONE, false",
            "zbv, 2, 2, 1, 1, NONE, false", "1f1b, 1, 2, 2, 1, GRADIENTS, false", "zb-h1, 1, 2, 1, 2, NONE, true",
            "1f1b, 1, 1, 2, 2, OPTIMIZER, true"})
    void shouldRehearseEachActionOfARowAndTheUpdate(String schedule, int virtualStages, int pipeline, int data,
            int tensor, Zero zero, boolean sharesSequence) {
        TrainingPlan plan = plan(schedule, virtualStages, new ParallelLayout(pipeline, data, tensor), sharesSequence,
                zero);
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            List<String> works = new ArrayList<>();
            NodeContext node = node(plan, SmallRun::reference,
                    heard((stage, work) -> works.add(work(stage, work))));
            try (Snapshots kept = new Snapshots(false)) {
                for (int stepsDone = 0; stepsDone < 3; stepsDone++) {
                    works.clear();
                    try (WarmUpRun warmUp = new WarmUpRun(node, kept, rank, stepsDone, _ -> true)) {
                        assertTrue(warmUp.run());
                        assertTrue(warmUp.nanos() > 0);
                    }
                    assertEquals(works(plan, rank), works, "rank " + rank);
                }
                for (int stage : plan.stagesOf(rank)) {
                    assertEquals(List.of(2L, 3L), kept.versions(rank, stage), "as it is kept after each commit");
                }
            }
        }
        assertEquals(3 * plan.rankCount(), run.enginesOpened());
        assertEquals(0, run.allocatedBytes());
    }

    private static List<String> works(TrainingPlan plan, int rank) {
        List<String> works = new ArrayList<>();
        for (Action action : plan.row(Pass.Kind.TRAINING, rank).actions()) {
            switch (action.kind()) {
                case FORWARD -> works.add(work(action.stage(), Work.FORWARD));
                case FULL_BACKWARD -> works.add(work(action.stage(), Work.BACKWARD));
                case BACKWARD_INPUT -> works.add(work(action.stage(), Work.BACKWARD_INPUT));
                case BACKWARD_WEIGHT -> works.add(work(action.stage(), Work.BACKWARD_WEIGHT));
                case SEND_F, RECV_F, SEND_B, RECV_B -> {
                }
            }
        }
        plan.stagesOf(rank).forEach(stage -> works.add(work(stage, Work.UPDATE)));
        return works;
    }

    private static String work(int stage, Work work) {
        return List.of(stage, work).toString();
    }

    @Test
    void shouldEndByItselfAndFreeAllMemory() throws InterruptedException {
        WarmUp.start(node(plan(), SmallRun::reference), news::add);
        String said = next();
        assertTrue(said.matches("is warm: .*"), said);
        assertEquals(0, run.allocatedBytes());
        assertTrue(run.enginesOpened() > plan().rankCount(), "more than a round of each rank");
    }

    @Test
    void shouldBeginNoOtherActionAfterItIsStopped() throws InterruptedException {
        CountDownLatch computing = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        AtomicInteger works = new AtomicInteger();
        WarmUp warmUp = WarmUp.start(node(plan(), () -> SmallRun.with("layerNorm", () -> {
            computing.countDown();
            await(mayGoOn);
        }), heard((_, _) -> works.incrementAndGet())), news::add);
        await(computing);
        warmUp.stop();
        mayGoOn.countDown();
        warmUp.end();
        assertEquals(0, run.allocatedBytes());
        assertEquals(1, works.get());
        String said = next();
        assertTrue(said.matches("warms up no longer.*"), said);
    }

    @Test
    void shouldOnlyReportThatItFailed() throws InterruptedException {
        WarmUp.start(node(plan(), () -> SmallRun.with("crossEntropyBoth", () -> {
            throw new IllegalStateException("device lost");
        })), news::add);
        assertEquals("could not warm up, and will be slow at first: IllegalStateException: device lost", next());
        assertEquals(0, run.allocatedBytes());
        WarmUp.start(node(plan(), () -> {
            throw new UnsatisfiedLinkError("no library");
        }), news::add);
        assertEquals("could not warm up, and will be slow at first: UnsatisfiedLinkError: no library", next());
    }

    private String next() throws InterruptedException {
        String said = news.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertFalse(said == null, "no result came");
        return said;
    }

    private static TrainingPlan plan() {
        return plan("1f1b", 1, new ParallelLayout(2, 1, 1), false, Zero.NONE);
    }

    private static TrainingPlan plan(String schedule, int virtualStages, ParallelLayout ranks, boolean sharesSequence,
            Zero zero) {
        return TrainingPlan.of(SmallRun.MODEL,
                new StageSettings(1, 4, 4 * ranks.data(), new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1)), "uniform",
                Schedules.named(schedule), ranks, sharesSequence, zero, virtualStages, 1, 2);
    }

    private NodeContext node(TrainingPlan plan, Supplier<CheckedEngine> open) {
        return node(plan, open, WorkClock.NONE);
    }

    /** A clock that reports which works begin. */
    private static WorkClock heard(BiConsumer<Integer, Work> begun) {
        return new WorkClock() {
            @Override
            public void begins(int stage, Work work) {
                begun.accept(stage, work);
            }

            @Override
            public void ends() {
            }
        };
    }

    private NodeContext node(TrainingPlan plan, Supplier<CheckedEngine> open, WorkClock clock) {
        WeightSource weights = (name, _, _, _) -> {
            throw new AssertionError("the weights of the run were read: " + name);
        };
        return run.context(plan, untouched(Transport.class), untouched(RankGroups.class), Optional.empty(), open,
                clock, weights, home);
    }

    private static <T> T untouched(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type}, (_, method, _) -> {
            throw new AssertionError(method + " was called");
        }));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
