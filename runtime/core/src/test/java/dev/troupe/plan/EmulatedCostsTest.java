package dev.troupe.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.config.RunSpecReader;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.config.spec.EmulatedSpec;
import dev.troupe.engine.provider.Work;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.layer.drop.LayerDrop;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.model.spec.Lora;
import dev.troupe.offload.StateStore;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.Recompute;
import dev.troupe.stage.Replay;
import dev.troupe.stage.StageSettings;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class EmulatedCostsTest {
    /** Two blocks, C = 4, T = 3, V = 5: embedding and a block on stage 0, a block and the head on stage 1. */
    private static final Partition PARTITION = Partition
            .of(new Gpt2(2, 4, 2, 3, 5, true, Gpt2.NORM_EPSILON).spec(), 2, "uniform");
    /** Two sequences of 3 tokens, so N = 6. */
    private static final StageSettings SETTINGS = new StageSettings(2, 3, 4, new Optimizer.Sgd(0));

    @Test
    void shouldTakeTheConfiguredTimeForAllStages() {
        EmulatedCosts costs = costs("forward=1ms", "backward-input=2ms", "backward-weight=3ms", "update=4ms");
        for (int stage = 0; stage < 2; stage++) {
            assertCosts(costs, stage, 1_000_000, 2_000_000, 3_000_000, 4_000_000);
        }
    }

    @Test
    void shouldTakeATimeForEachStageFromAList() {
        EmulatedCosts costs = costs("forward=[1us,2us]", "backward-input=[3us,4us]", "backward-weight=5us");
        assertCosts(costs, 0, 1000, 3000, 5000, 0);
        assertCosts(costs, 1, 2000, 4000, 5000, 0);
    }

    /**
     * At one operation a nanosecond. A block: products 24 x 6 x 4 x 4 = 2304, attention 4 x 6 x 3 x 4 = 288, twice that in
     * the backward for the input. The head: 2 x 6 x 4 x 5 = 240.
     */
    @Test
    void shouldCountTheOperationsOfTheModelAtTheRateOfTheDevice() {
        EmulatedCosts costs = costs("device-flops=1e9", "update=4ms");
        assertCosts(costs, 0, 2304 + 288, 2304 + 576, 2304, 0);
        assertCosts(costs, 1, 2304 + 288 + 240, 2304 + 576 + 240, 2304 + 240, 0);
        assertEquals(5184, costs("device-flops=1e9", "speed=0.5").nanos(0, Work.FORWARD), "half the speed");
        assertEquals(8_000_000, costs("update=4ms", "speed=0.5").nanos(0, Work.UPDATE));
        assertEquals(1296, costs("device-flops=2e9").nanos(0, Work.FORWARD), "twice the rate, half the time");
    }

    /** The forward again without the product of 8 x 6 x 4 x 4 = 768, in the backward for the input. */
    @Test
    void shouldCountWhatIsComputedAgain() {
        EmulatedCosts costs = new EmulatedCosts(
                RunSpecReader.read(Optional.empty(), List.of("engine.emulated.device-flops=1e9")).engine().emulated(),
                PARTITION, new StageSettings(2, 3, 4, new Optimizer.Sgd(0), Recompute.FULL, DropoutSettings.NONE),
                _ -> false);
        assertCosts(costs, 0, 2304 + 288, 2304 - 768 + 288 + 2304 + 576, 2304, 0);
        assertCosts(costs, 1, 2304 + 288 + 240, 2304 - 768 + 288 + 240 + 2304 + 576 + 240, 2304 + 240, 0);
    }

    /** Stage 0 replays its block ahead; stage 1 waits for no gradient. */
    @Test
    void shouldTakeAReplayOutOfTheBackward() {
        StageSettings settings = new StageSettings(2, 3, 4, new Optimizer.Sgd(0), Recompute.FULL, DropoutSettings.NONE)
                .with(new Replay(1, Replay.ALL));
        for (String keys : List.of("device-flops=1e9", "forward=1ms recompute=1ms")) {
            List<String> given = Arrays.stream(keys.split(" ")).map(key -> "engine.emulated." + key).toList();
            EmulatedSpec spec = RunSpecReader.read(Optional.empty(), given).engine().emulated();
            EmulatedCosts inside = new EmulatedCosts(spec, PARTITION, settings, _ -> false);
            EmulatedCosts ahead = new EmulatedCosts(spec, PARTITION, settings, stage -> stage == 0);
            assertEquals(0, inside.nanos(0, Work.RECOMPUTE) + ahead.nanos(1, Work.RECOMPUTE));
            assertEquals(keys.startsWith("device") ? 2304 - 768 + 288 : 1_000_000, ahead.nanos(0, Work.RECOMPUTE));
            assertEquals(inside.nanos(0, Work.BACKWARD),
                    ahead.nanos(0, Work.RECOMPUTE) + ahead.nanos(0, Work.BACKWARD));
            assertEquals(inside.nanos(1, Work.BACKWARD_INPUT), ahead.nanos(1, Work.BACKWARD_INPUT));
        }
    }

    /** Both moments of float32 of each weight are read and written, if that takes longer than the update. */
    @Test
    void shouldReadAndWriteStoredMoments() {
        StageSettings stored = new StageSettings(2, 3, 4,
                new Optimizer.Stored(new Optimizer.AdamW(0.9, 0.95, 1e-8, 0), StateStore.NOTHING));
        for (Zero zero : List.of(Zero.NONE, Zero.OPTIMIZER)) {
            TrainingPlan plan = TrainingPlan.of(PARTITION.model(), stored, "uniform", Schedules.named("1f1b"),
                    new ParallelLayout(2, 2, 1), false, zero, 1, 1, 2);
            long parts = zero == Zero.NONE ? 1 : 2;
            for (int stage = 0; stage < 2; stage++) {
                long nanos = 2 * 2 * 4 * plan.partition().parameterCount(stage) / parts;
                assertEquals(nanos, update(plan, stage, "offload-bandwidth=1e9"));
                assertEquals(2 * nanos, update(plan, stage, "offload-bandwidth=5e8", "update=100ns"));
                assertEquals(2 * nanos, update(plan, stage, "offload-bandwidth=1e9", "speed=0.5"));
                assertEquals(1_000_000, update(plan, stage, "offload-bandwidth=1e9", "update=1ms"));
                assertEquals(0, update(plan, stage));
            }
        }
    }

    /** The adapter of a block's attention, 2 x (4 + 12) weights; frozen weights have no state. */
    @Test
    void shouldStoreTheMomentsOfTrainedWeightsAlone() {
        ModelSpec model = PARTITION.model();
        ModelSpec adapted = model.family().adapted(model, new Lora(2, 4, List.of("attn.c_attn"), "none"));
        StageSettings stored = new StageSettings(2, 3, 4,
                new Optimizer.Stored(new Optimizer.AdamW(0.9, 0.95, 1e-8, 0), StateStore.NOTHING));
        TrainingPlan plan = TrainingPlan.of(adapted, stored, "uniform", Schedules.named("1f1b"),
                new ParallelLayout(2, 1, 1), false, Zero.NONE, 1, 1, 2);
        assertEquals(2 * 2 * 4 * 2 * (4 + 12), update(plan, 1, "offload-bandwidth=1e9"));
    }

    private static long update(TrainingPlan plan, int stage, String... settings) {
        List<String> keys = Arrays.stream(settings).map(setting -> "engine.emulated." + setting).toList();
        return EmulatedCosts.of(RunSpecReader.read(Optional.empty(), keys).engine().emulated(), plan).nanos(stage,
                Work.UPDATE);
    }

    /** By the same gates: a block has 1056 operations of attention and 1536 of the MLP in its forward; the head has 240. */
    @Test
    void shouldTakeOnlyTheTimeOfTheHalvesThatAMicrobatchKeeps() {
        DropoutSettings dropping = new DropoutSettings(0, 0, new LayerDrop(0.1, 5, 2, true), 3);
        StageSettings settings = new StageSettings(2, 3, 4, new Optimizer.Sgd(0), Recompute.NONE, dropping);
        EmulatedCosts costs = new EmulatedCosts(
                RunSpecReader.read(Optional.empty(), List.of("engine.emulated.device-flops=1e9")).engine().emulated(),
                PARTITION, settings, _ -> false);
        Set<Long> seen = new TreeSet<>();
        for (int microbatch = 0; microbatch < 64; microbatch++) {
            DropoutKey key = dropping.keyOf(9, microbatch, 3, 3);
            long attention = key.ofHalf(2, DropoutKey.Site.ATTENTION_OUTPUT) == 0 ? 0 : 1;
            long mlp = key.ofHalf(2, DropoutKey.Site.MLP_OUTPUT) == 0 ? 0 : 1;
            assertEquals(1056 * attention + 1536 * mlp + 240, costs.nanos(1, Work.FORWARD, 9, microbatch));
            assertEquals(768 * attention + 1536 * mlp + 240, costs.nanos(1, Work.BACKWARD_WEIGHT, 9, microbatch));
            assertEquals(costs.nanos(0, Work.FORWARD), costs.nanos(0, Work.FORWARD, 9, microbatch), "the first block");
            assertEquals(costs.nanos(1, Work.BACKWARD), costs.nanos(1, Work.BACKWARD, 0, microbatch), "the first step");
            seen.add(costs.nanos(1, Work.BACKWARD, 9, microbatch));
        }
        assertEquals(4, seen.size());
    }

    @Test
    void shouldRefuseAListOfAnotherLengthThanThereAreStages() {
        assertEquals("engine.emulated.forward needs one time, or one for each of the 2 stages, but has 3",
                assertThrows(UsageException.class, () -> costs("forward=[1ms,1ms,1ms]")).getMessage());
    }

    private static EmulatedCosts costs(String... settings) {
        List<String> keys = Arrays.stream(settings).map(setting -> "engine.emulated." + setting).toList();
        return new EmulatedCosts(RunSpecReader.read(Optional.empty(), keys).engine().emulated(), PARTITION, SETTINGS,
                _ -> false);
    }

    private static void assertCosts(EmulatedCosts costs, int stage, long forward, long backwardInput,
            long backwardWeight, long update) {
        assertEquals(List.of(forward, backwardInput, backwardWeight, update),
                Arrays.stream(new Work[]{Work.FORWARD, Work.BACKWARD_INPUT, Work.BACKWARD_WEIGHT, Work.UPDATE})
                        .map(work -> costs.nanos(stage, work)).toList());
        assertEquals(backwardInput + backwardWeight, costs.nanos(stage, Work.BACKWARD));
    }
}
