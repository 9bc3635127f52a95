package dev.troupe.plan.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.model.spec.Lora;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.memory.MachineMemory;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.family.OverlappingSteps;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.Recompute;
import dev.troupe.stage.Replay;
import dev.troupe.stage.StageSettings;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class MemoryPlanTest {
    private static final long FLOAT = 4;
    /** Two blocks, C = 8, H = 2, T = 6, V = 10, untied. */
    private static final ModelSpec MODEL = new Gpt2(2, 8, 2, 6, 10, false, Gpt2.NORM_EPSILON).spec();
    /** N C numbers, with N = 2 sequences of 6 tokens. */
    private static final long ACTIVATION = 12 * 8 * FLOAT;

    /**
     * The weights of a layer, each tensor beginning at a multiple of 64: the embedding 128 + 64; a block 192 + 64 + 256
     * + 256 of matrices and 8 x 64 of vectors; the head 2 x 64 + 128.
     */
    @Test
    void shouldCountTheMemoryKeptFromStepToStep() {
        List<RankMemory> ranks = ranks("1f1b", 2);
        assertEquals((192 + 1280) * FLOAT, ranks.get(0).weights());
        assertEquals((1280 + 256) * FLOAT, ranks.get(1).weights());
        for (RankMemory rank : ranks) {
            assertEquals(rank.weights(), rank.gradients());
            assertEquals(2 * rank.weights(), rank.optimizer());
            assertEquals(rank.weights() + rank.gradients() + rank.optimizer() + rank.activations() + rank.boundary(),
                    rank.total());
        }
    }

    /**
     * Of psi weights in float32, with Adam, on D ranks (Rajbhandari et al. 2020, section 5): 4 psi bytes of weights, 4 of
     * gradients, 8 of moments, of which each level divides one more by D. If gradients are shared out there is also a buffer
     * for one layer of them, if weights are, one for two layers.
     */
    @ParameterizedTest
    @CsvSource({"2, 0", "2, 1", "2, 2", "2, 3", "4, 0", "4, 1", "4, 2", "4, 3"})
    void shouldShareOutAsInThePaper(int data, int zero) {
        // Tables of 100 and 16 rows, blocks, and the vectors of the head's norm, in buckets that the ranks can divide.
        ModelSpec model = new Gpt2(3, 64, 2, 16, 100, false, Gpt2.NORM_EPSILON).spec();
        long table = padded(100 * 64, data);
        long block = padded(12 * 64 * 64 + 13 * 64, data);
        long psi = 2 * table + padded(16 * 64, data) + 3 * block + padded(2 * 64, data);
        StageSettings settings = new StageSettings(1, 6, 2 * data, new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1));
        List<RankMemory> ranks = MemoryPlan.of(TrainingPlan.of(model, settings, "uniform", Schedules.named("gpipe"),
                new ParallelLayout(1, data, 1), false, Zero.of(zero), 1, 1, 2), reference(), false, 0, List.of())
                .ranks();
        assertEquals(data, ranks.size());
        for (RankMemory rank : ranks) {
            assertEquals(zero < 3 ? 4 * psi : 4 * psi / data + 2 * 4 * block, rank.weights());
            assertEquals(zero < 2 ? 4 * psi : 4 * psi / data + 4 * block, rank.gradients());
            assertEquals(zero < 1 ? 8 * psi : 8 * psi / data, rank.optimizer());
        }
    }

    /** Frozen weights are shared like trained ones, and have no gradients and no moments. */
    @ParameterizedTest
    @CsvSource({"2, 2", "2, 3", "4, 2", "4, 3"})
    void shouldShareOutFrozenWeights(int data, int zero) {
        ModelSpec whole = new Gpt2(3, 64, 2, 16, 100, false, Gpt2.NORM_EPSILON).spec();
        ModelSpec model = whole.family().adapted(whole, new Lora(4, 8, List.of(Lora.ALL_LINEAR), ""));
        long block = padded(12 * 64 * 64 + 13 * 64, data);
        long frozen = 2 * padded(100 * 64, data) + padded(16 * 64, data) + 3 * block + padded(2 * 64, data);
        // A and B for matrices of 64 x 192, 64 x 64, 64 x 256 and 256 x 64.
        long adapters = 4 * (2 * 64 + 192 + 64 + 2 * (64 + 256));
        StageSettings settings = new StageSettings(1, 6, 2 * data, new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1));
        for (RankMemory rank : MemoryPlan.of(TrainingPlan.of(model, settings, "uniform", Schedules.named("gpipe"),
                new ParallelLayout(1, data, 1), false, Zero.of(zero), 1, 1, 2), reference(), false, 0, List.of())
                .ranks()) {
            assertEquals(zero < 3
                    ? 4 * (whole.parameterCount() + 3 * adapters)
                    : 4 * (frozen + 3 * adapters) / data + 2 * 4 * (block + adapters), rank.weights());
            assertEquals(4 * 3 * adapters / data + 4 * adapters, rank.gradients());
            assertEquals(8 * 3 * adapters / data, rank.optimizer());
        }
    }

    /** Muon keeps one number of a hidden matrix, two of any other weight, and a squared norm of each matrix. */
    @Test
    void shouldCountTheStateOfMuon() {
        ModelSpec model = new Gpt2(3, 64, 2, 16, 100, false, Gpt2.NORM_EPSILON).spec();
        long hidden = 3 * 12 * 64 * 64;
        long others = 2 * 100 * 64 + 16 * 64 + 3 * 13 * 64 + 2 * 64;
        StageSettings settings = new StageSettings(1, 6, 2,
                new Optimizer.Muon(0.95, new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1)));
        RankMemory rank = MemoryPlan.of(TrainingPlan.of(model, settings, "uniform", Schedules.named("gpipe"),
                new ParallelLayout(1, 1, 1), false, Zero.NONE, 1, 1, 2), reference(), false, 0, List.of()).ranks()
                .getFirst();
        assertEquals(4 * hidden + 8 * others + 3 * 4 * Double.BYTES, rank.optimizer());
    }

    /** The last update is one number of each weight, in addition to the two of AdamW. */
    @Test
    void shouldCountTheUpdateThatErrorFeedbackRemembers() {
        Optimizer.AdamW plain = new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1);
        List<RankMemory> expected = overlapping(plain);
        List<RankMemory> found = overlapping(new Optimizer.ErrorFeedback(plain));
        for (int rank = 0; rank < 2; rank++) {
            assertEquals(expected.get(rank).optimizer() * 3 / 2, found.get(rank).optimizer());
            assertEquals(expected.get(rank).weights(), found.get(rank).weights());
            assertEquals(expected.get(rank).gradients(), found.get(rank).gradients());
        }
    }

    private static List<RankMemory> overlapping(Optimizer optimizer) {
        ModelSpec model = new Gpt2(3, 64, 2, 16, 100, false, Gpt2.NORM_EPSILON).spec();
        return MemoryPlan.of(TrainingPlan.of(model, new StageSettings(1, 6, 2, optimizer), "uniform",
                new OverlappingSteps(new PipeDream2Bw(PipeDream2Bw.Updates.LAZY, 1), 2), new ParallelLayout(2, 1, 1),
                false,
                Zero.NONE, 1, 1, 2), reference(), false, 0, List.of()).ranks();
    }

    private static long padded(long elements, int data) {
        return Math.ceilDiv(elements, 64 * data) * 64 * data;
    }

    /**
     * With 2 credits, 2 ranks of 1F1B and 4 microbatches: each receives on one edge, so it has granted 2 tensors. Rank 0 can
     * be 2 activations ahead of rank 1, which can be 1 gradient ahead of rank 0, since it needs a later activation.
     */
    @Test
    void shouldCountMessagesInFlight() {
        List<RankMemory> ranks = ranks("1f1b", 2);
        assertEquals((2 + 2) * ACTIVATION, ranks.get(0).boundary());
        assertEquals((2 + 2) * ACTIVATION, ranks.get(1).boundary());
        assertEquals(0, ranks("1f1b", 1).getFirst().boundary());
    }

    /**
     * The memory of one more microbatch in progress, in numbers a row in addition to activations: a block has 4 for its
     * norms' statistics and the probabilities of 2 heads; the head has logits, the statistics of its norm and a sum of
     * exponentials; and there are a token, a target and a loss of float64.
     */
    @Test
    void shouldCountActivationsByThePeaksOfTheCertificate() {
        long row = 12 * FLOAT;
        for (Recompute recompute : Recompute.values()) {
            long three = MemoryPlan.of(plan("gpipe", 1, 3, recompute), reference(), false, 0, List.of()).total();
            long four = MemoryPlan.of(plan("gpipe", 1, 4, recompute), reference(), false, 0, List.of()).total();
            assertEquals(switch (recompute) {
                case NONE -> 2 * (16 * ACTIVATION + (4 + 2 * 6) * row) + 2 * ACTIVATION + (10 + 3) * row;
                case SELECTIVE -> 2 * (9 * ACTIVATION + 4 * row) + ACTIVATION + (10 + 3) * row;
                case FULL -> 3 * ACTIVATION;
            } + 2 * row + Double.BYTES, four - three, recompute.toString());
        }
    }

    /** Of three blocks a stage; the stage with the head waits for no gradient and replays inside its backward. */
    @Test
    void shouldReplayTheBlocksAheadThatTheBudgetAllows() {
        ModelSpec model = new Gpt2(6, 8, 2, 6, 10, false, Gpt2.NORM_EPSILON).spec();
        StageSettings settings = new StageSettings(2, 6, 4, new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1), Recompute.FULL,
                DropoutSettings.NONE).with(new Replay(1, Replay.ALL));
        TrainingPlan plan = TrainingPlan.of(model, settings, "uniform", Schedules.named("1f1b"),
                new ParallelLayout(2, 1, 1), false, Zero.NONE, 1, 1, 2);
        List<Long> bytes = IntStream.rangeClosed(0, 3).mapToObj(blocks -> activations(plan, blocks)).toList();
        assertTrue(bytes.get(0) <= bytes.get(1) && bytes.get(1) < bytes.get(2) && bytes.get(2) < bytes.get(3),
                bytes.toString());
        assertEquals(bytes.get(2) - bytes.get(1), bytes.get(3) - bytes.get(2), "blocks are alike");
        for (int blocks = 1; blocks <= 3; blocks++) {
            TrainingPlan fitted = AheadBudget.fit(plan, bytes.get(blocks) - bytes.get(0), MemoryPlanTest::reference);
            assertEquals(bytes.get(blocks), activations(fitted, fitted.stageSettings().replay().ahead()));
        }
        assertEquals(2, AheadBudget.fit(plan, bytes.get(3) - bytes.get(0) - 1, MemoryPlanTest::reference)
                .stageSettings().replay().ahead());
        assertEquals(plan, AheadBudget.fit(plan, Long.MAX_VALUE, () -> {
            throw new AssertionError("no size is needed");
        }));
    }

    /** A plan that replays all microbatches before the first backward. */
    @Test
    void shouldRefuseABudgetThatIsTooSmallForABlock() {
        Plan replays = Plan.fromCsv("replays", Laps.LOOP, """
                0F0,0F1,0RECOMPUTE0,0RECOMPUTE1,0B0,0B1
                1F0,1B0,1F1,1B1
                """);
        Schedule schedule = new Schedule() {
            @Override
            public String name() {
                return replays.name();
            }

            @Override
            public Plan plan(int pipeline, int virtualStages, int microbatches) {
                return replays;
            }
        };
        StageSettings settings = new StageSettings(2, 6, 2, new Optimizer.Sgd(0), Recompute.FULL, DropoutSettings.NONE)
                .with(new Replay(1, Replay.ALL));
        TrainingPlan plan = TrainingPlan.of(MODEL, settings, "uniform", schedule, new ParallelLayout(2, 1, 1), false,
                Zero.NONE, 1, 1, 2);
        String refusal = assertThrows(UsageException.class, () -> AheadBudget.fit(plan, 0, MemoryPlanTest::reference))
                .getMessage();
        assertTrue(
                refusal.startsWith(
                        "training.recompute-ahead = 0.0 MiB, but one block ahead of the gradient would take"),
                refusal);
    }

    private static long activations(TrainingPlan plan, int blocks) {
        return MemoryPlan.of(plan.with(new Replay(1, blocks)), reference(), false, 0, List.of()).ranks().getFirst()
                .activations();
    }

    @Test
    void shouldRefuseMoreThanTheMemoryOfTheMachine() {
        MemoryPlan memory = new MemoryPlan(
                List.of(new RankMemory(0, 1L << 30, 1L << 30, 2L << 30,
                        new RankMemory.Activations(1L << 20, TensorPool.Free.NONE, Optional.empty()), 0, 0, 0, 0)));
        memory.requireRoom(memory.total());
        String refusal = assertThrows(UsageException.class, () -> memory.requireRoom(3L << 30)).getMessage();
        assertEquals("the run would take 4.00 GiB of memory (1.0 MiB of them for activations), but this machine has"
                + " 3.00 GiB to give: take a smaller model (model.hidden, model.layers), or training.optimizer.kind ="
                + " sgd, which without momentum remembers nothing", refusal);
    }

    /** The heaviest of the stages 1, 2, 2 and 3 blocks fits a node that has room for what it takes, and no other. */
    @Test
    void shouldRefuseACutThatLeavesANodeNoRoom() {
        ModelSpec model = new Gpt2(8, 8, 2, 6, 10, false, Gpt2.NORM_EPSILON).spec();
        StageSettings settings = new StageSettings(2, 6, 4, new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1));
        MemoryPlan memory = MemoryPlan.of(TrainingPlan.of(model, settings, "Et|tt|tt|tttL", Schedules.named("1f1b"),
                new ParallelLayout(4, 1, 1), false, Zero.NONE, 1, 1, 2), reference(), false, 0, List.of());
        assertEquals((3 * 1280 + 256) * FLOAT, memory.ranks().get(3).weights(), "three blocks and the head");
        MemoryPlan node = memory.onMachine(List.of(3), List.of());
        node.requireRoom(memory.ranks().get(3).total());
        memory.onMachine(List.of(1), List.of()).requireRoom(node.total() - 1);
        String refusal = assertThrows(UsageException.class, () -> node.requireRoom(node.total() - 1)).getMessage();
        assertTrue(refusal.startsWith("the run would take " + MemoryPlan.text(node.total()) + " of memory"), refusal);
    }

    @Test
    void shouldCountSnapshotsAtTheirOwnerAndCopiesAtTheirHolder() {
        MemoryPlan memory = MemoryPlan.of(plan("1f1b", 2, 4, Recompute.NONE), reference(), false, 2, List.of(0, 1));
        MemoryPlan pinned = MemoryPlan.of(plan("1f1b", 2, 4, Recompute.NONE), reference(), false, 3, List.of(0));
        for (RankMemory rank : memory.ranks()) {
            assertTrue(rank.snapshots() > rank.weights() + rank.optimizer(), rank.toString());
            assertTrue(rank.snapshots() <= 2 * (rank.weights() + rank.optimizer()), rank.toString());
            assertEquals(rank.snapshots(), rank.copies());
            assertEquals(3 * rank.snapshots(), 2 * pinned.ranks().get(rank.rank()).snapshots());
            assertEquals(rank.rank() == 0 ? rank.copies() : 0, pinned.ranks().get(rank.rank()).copies(),
                    "nobody pins a copy");
        }
        RankMemory first = memory.ranks().getFirst();
        long there = memory.onMachine(List.of(1), List.of(0)).total();
        assertEquals(memory.ranks().get(1).total() - memory.ranks().get(1).copies() + first.copies(), there);
        assertEquals(memory.total(), memory.onMachine(List.of(0), List.of(1)).total() + there);
    }

    @Test
    void shouldReadTheAvailableMemoryOfTheSystem() {
        assertEquals(2048L * 1024, MachineMemory.available("MemTotal:  9 kB\nMemAvailable:    2048 kB\nFree: 1 kB\n"));
        assertTrue(MachineMemory.availableBytes() > 0);
    }

    private static List<RankMemory> ranks(String schedule, int pipeline) {
        return MemoryPlan.of(plan(schedule, pipeline, 4, Recompute.NONE), reference(), false, 0, List.of()).ranks();
    }

    private static TrainingPlan plan(String schedule, int pipeline, int microbatches, Recompute recompute) {
        return TrainingPlan.of(MODEL,
                new StageSettings(2, 6, microbatches, new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1), recompute,
                        DropoutSettings.NONE),
                "uniform", Schedules.named(schedule), new ParallelLayout(pipeline, 1, 1), false, Zero.NONE, 1, 1, 2);
    }

    private static Engine reference() {
        return new ReferenceEngine(DataType.FLOAT32);
    }
}
