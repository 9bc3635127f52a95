package dev.troupe.plan.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpecReader;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.layer.drop.LayerDrop;
import dev.troupe.model.ModelSpec;
import dev.troupe.partition.Partition;
import dev.troupe.plan.DroppedHalves;
import dev.troupe.plan.UsageException;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.search.Unit;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class LayoutByCostsTest {
    private static List<Unit> drawn(ModelSpec model, Random random) {
        return model.layers().stream().map(layer -> new Unit(layer.name(), new StageCost(1 + random.nextInt(9),
                1 + random.nextInt(9), 1 + random.nextInt(9), 0), 0, 0)).toList();
    }

    private static long step(Plan plan, List<Unit> units, Partition partition) {
        return Simulator.run(plan, new Costs(partition.stages().stream().map(range -> units
                .subList(range.first(), range.last() + 1).stream().map(Unit::cost).reduce(StageCost::then)
                .orElseThrow()).toList(), (_, _) -> Hop.FREE)).makespanNanos();
    }

    /** 27,132 partitions of 20 layers into 7 stages are too many to simulate. */
    @Test
    void shouldNotBeLongerThanUniformAndBeGivenBackByHand() {
        Random random = new Random(11);
        ModelSpec model = GivenCostsTest.model(9);
        Plan plan = Schedules.named("1f1b").plan(7, 1, 8);
        int shorter = 0;
        for (int draw = 0; draw < 40; draw++) {
            List<Unit> units = drawn(model, random);
            Partition found = LayoutByCosts.of(model, units, plan);
            long saved = step(plan, units, Partition.uniform(model, 7)) - step(plan, units, found);
            assertTrue(saved >= 0, found.layout() + " of " + units);
            shorter += saved > 0 ? 1 : 0;
            assertEquals(found, Partition.layout(model, 7, found.layout()));
        }
        assertTrue(shorter > 30, shorter + " of 40 were shorter");
    }

    @Test
    void shouldCutLayersThatDoNotDivideByTheVirtualStages() {
        ModelSpec model = GivenCostsTest.model(3);
        Plan plan = Schedules.named("interleaved-1f1b").plan(2, 3, 4);
        Partition found = LayoutByCosts.of(model, GivenCosts.read("costs(E=0, a=1, m=2, L=2)", model), plan);
        assertEquals(6, found.stageCount());
        assertEquals(8, model.layers().size());
    }

    /** Costs times probabilities: a later stage gets more halves if microbatches drop them. */
    @Test
    void shouldCutByTheExpectedCostsOfLayersThatMicrobatchesDrop() {
        ModelSpec model = GivenCostsTest.model(8);
        List<Unit> whole = GivenCosts.read("costs(E=0, a=1, m=1, L=0)", model);
        TrainingSpec training = RunSpecReader.read(Optional.empty(), List.of("training.layer-drop.keep=0.2"))
                .training();
        List<Unit> expected = LayoutByCosts.expected(whole, training, model);
        LayerDrop drop = DroppedHalves.of(training, model);
        for (int layer = 1; layer < 17; layer++) {
            assertEquals(1e9 * drop.meanKeepProbability(300, model.blockNumber(layer)),
                    expected.get(layer).cost().forwardNanos(), 1);
        }
        Plan plan = Schedules.named("1f1b").plan(2, 1, 8);
        assertEquals(8, LayoutByCosts.of(model, whole, plan).layers(1).size() - 1);
        assertTrue(LayoutByCosts.of(model, expected, plan).layers(1).size() - 1 > 8);
    }

    @Test
    void shouldRefuseMoreStagesThanLayers() {
        ModelSpec model = GivenCostsTest.model(1);
        Plan plan = Schedules.named("1f1b").plan(5, 1, 4);
        assertTrue(assertThrows(UsageException.class, () -> LayoutByCosts.of(model, drawn(model, new Random(1)), plan))
                .getMessage().startsWith("parallel.layout: a model of 1 blocks has 4 layers with embedding and head,"
                        + " halves of blocks counted, which make 1 to 4 stages, but found 5"));
    }
}
