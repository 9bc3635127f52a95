package dev.troupe.plan.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.config.RunSpecReader;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.LayerCosts;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.planner.machine.MeasuredFigures;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.plan.profile.LayerSamples;
import dev.troupe.plan.profile.Profile;
import dev.troupe.plan.profile.ProfileSetting;
import dev.troupe.plan.profile.StepOverheads;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.simulator.StageCost;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class ProfiledTimesTest {
    private static final LayerSamples LAYER = new LayerSamples(8, 4, Map.of(Kind.FORWARD, List.of(100L),
            Kind.BACKWARD_INPUT, List.of(200L), Kind.BACKWARD_WEIGHT, List.of(300L), Kind.FULL_BACKWARD, List.of(400L),
            Kind.UPDATE, List.of(10L)));

    @TempDir
    private Path home;

    /** Two layers on each of two stages: their sum times the factor of a run, and once the control of an action. */
    @Test
    void shouldAddTheTimesOfARunOutsideTheLayers() {
        Profile profile = new Profile("2026-11-28T03:00:00Z", 2,
                new ProfileSetting("Xeon", "reference own", 1, "FLOAT32", 1, 16, 1, "gpt2"),
                List.of("E", "a", "a", "L"),
                Map.of("E", LAYER, "a", LAYER, "L", LAYER));
        try (OpenedRun opened = OpenedRun.of(new RunRequest(RunSpecReader.read(Optional.empty(), List.of(
                "engine.kind=reference", "model.layers=1", "model.hidden=8", "model.heads=2",
                "model.sequence-length=16", "model.vocabulary-size=256", "parallel.pipeline=2",
                "parallel.layout=Ea|mL", "training.steps=4", "training.global-batch-size=4",
                "training.microbatch-size=1", "training.validate-every=0")), new byte[4096], home.resolve("run"),
                Optional.empty(), OptionalLong.empty()))) {
            TrainingPlan plan = PlannedRun.of(opened).plan();
            StageCost alone = new ProfiledTimes(profile).of(plan).getFirst();
            assertEquals(List.of(200L, 400L, 600L, 800L), List.of(alone.forwardNanos(), alone.backwardInputNanos(),
                    alone.backwardWeightNanos(), alone.fullBackwardNanos()));
            assertEquals(0, new ProfiledTimes(profile).decisionNanos());
            ProfiledTimes run = new ProfiledTimes(profile.with(new StepOverheads(List.of(1_500_000L), List.of(7L),
                    List.of(20L), List.of(30L), List.of(40L))));
            StageCost inRun = run.of(plan).getLast();
            assertEquals(List.of(307L, 607L, 907L, 1207L), List.of(inRun.forwardNanos(), inRun.backwardInputNanos(),
                    inRun.backwardWeightNanos(), inRun.fullBackwardNanos()));
            assertEquals(37, inRun.nanos(Kind.UPDATE));
            assertEquals(70, run.decisionNanos());
            assertFigures(opened.model(), profile);
        }
    }

    /** Four layers of 600 ns each; the second machine is measured with twice the time. */
    private static void assertFigures(ModelSpec model, Profile profile) {
        Map<Kind, List<Long>> twice = new EnumMap<>(Kind.class);
        LAYER.nanos().forEach((kind, times) -> twice.put(kind, times.stream().map(time -> 2 * time).toList()));
        LayerSamples slow = new LayerSamples(8, 4, twice);
        Profile slower = new Profile(profile.date(), 2, profile.setting(), profile.layers(),
                Map.of("E", slow, "a", slow, "L", slow));
        assertEquals(List.of(0.5, 1.0), MeasuredFigures.speeds(List.of(slower, profile)));
        MachineFigures figures = MeasuredFigures.of(model, List.of(slower, profile),
                MachineFigures.withFreeLinks(1, 3)).orElseThrow();
        long operations = model.layers().stream().mapToLong(layer -> {
            LayerCosts costs = layer.costs().of(16, 16);
            return Math.round(2 * costs.products() + 3 * costs.attention() + layer.weightProducts(costs, 16));
        }).sum();
        assertEquals(operations / 2400e-9, figures.deviceFlops(), 1e-3 * figures.deviceFlops());
        assertEquals(3, figures.nodeRanks());
    }
}
