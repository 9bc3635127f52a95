package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.partition.Partition;
import dev.troupe.protocol.run.GlobalNorm;
import dev.troupe.protocol.run.LayerSquaredSum;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.PipeDream;
import dev.troupe.schedule.lowering.AddRecompute;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.NaivePipeline.StepResult;
import dev.troupe.stage.OverlappingPipeline.Optimizing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * PipeDream's stages, which update alone, against one device that takes the gradients of each step at weights of several
 * versions: the weights of stage s have the age of the certificate.
 */
@Tag("parity")
class WeightStashingTest {
    private static final String UNTIED = "gpt2-untied-sgd";
    private static final int STEPS = 9;
    private static final Optimizer.AdamW ADAM_W = new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1);

    @ParameterizedTest
    @CsvSource({"3, false, adamw, cpu", "3, true, adamw, cpu", "2, false, sgd, reference", "3, false, muon, cpu"})
    void shouldHaveTheBitsOfOneDeviceOnDelayedWeights(int stageCount, boolean hasVerticalSync, String optimizer,
            String engine) {
        assertSameBits(UNTIED, stageCount, new PipeDream(hasVerticalSync), optimizer, engine);
    }

    @ParameterizedTest
    @Tag("long")
    @CsvSource({"2, false, adamw, cpu", "4, false, adamw, bfloat16", "4, true, adamw, bfloat16", "4, true, sgd, cpu",
            "4, false, sgd, cpu", "2, true, adamw, reference", "4, false, adamw, reference",
            "4, true, muon, bfloat16", "2, false, muon, reference"})
    void shouldHaveTheBitsOfOneDeviceUnderEveryPlan(int stageCount, boolean hasVerticalSync, String optimizer,
            String engine) {
        assertSameBits(UNTIED, stageCount, new PipeDream(hasVerticalSync), optimizer, engine);
    }

    /** A replay ahead of the gradient reads the weights that its forward read, which later updates have not changed. */
    @ParameterizedTest
    @CsvSource({"false, adamw, cpu", "true, sgd, reference"})
    void shouldReplayForwardsAheadOnTheWeightsThatTheyRead(boolean hasVerticalSync, String optimizer, String engine) {
        PipeDream schedule = new PipeDream(hasVerticalSync);
        assertSameBits(UNTIED, 3, schedule, new AddRecompute().apply(schedule.plan(3, 1, STEPS)), optimizer, engine);
    }

    /** On one rank nothing is delayed, and both ends of a tied table are on it. */
    @ParameterizedTest
    @CsvSource({"false, cpu", "true, reference"})
    void shouldDoOneStepAfterTheOtherOnOneRank(boolean hasVerticalSync, String engine) {
        assertSameBits(StageGolden.DELAYED, 1, new PipeDream(hasVerticalSync), "adamw", engine);
    }

    private static void assertSameBits(String name, int stageCount, PipeDream schedule, String optimizer,
            String engineName) {
        assertSameBits(name, stageCount, schedule, schedule.plan(stageCount, 1, STEPS), optimizer, engineName);
    }

    private static void assertSameBits(String name, int stageCount, PipeDream schedule, Plan plan, String optimizer,
            String engineName) {
        Supplier<Engine> engine = () -> switch (engineName) {
            case "cpu" -> new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, 1));
            case "bfloat16" ->
                new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, DataType.BFLOAT16, 1));
            default -> new ReferenceEngine(DataType.FLOAT64);
        };
        try (StageGolden golden = new StageGolden(name);
                OverlappingPipeline pipeline = pipeline(golden, stageCount, schedule, plan, optimizing(optimizer),
                        engine)) {
            Delayed expected = delayed(golden, pipeline, certificate(stageCount, schedule).weights().staleness(),
                    optimizing(optimizer), engine);
            List<StepResult> results = pipeline.train();
            for (int step = 0; step < STEPS; step++) {
                assertEquals(expected.results.get(step), results.get(step), "step " + step);
            }
            Map<String, double[]> found = HostCopies.values(pipeline.engines,
                    pipeline.stages.stream().map(Stage::weights).toList());
            assertEquals(expected.weights.keySet(), found.keySet());
            expected.weights.forEach((tensor, values) -> assertArrayEquals(values, found.get(tensor), tensor));
        }
    }

    private static Optimizing optimizing(String optimizer) {
        return switch (optimizer) {
            case "sgd" -> new Optimizing(new Optimizer.Sgd(0), 0.1, 0);
            case "muon" -> new Optimizing(new Optimizer.Muon(0.95, ADAM_W), 0.01, 0);
            default -> new Optimizing(ADAM_W, 0.01, 0);
        };
    }

    private static OverlappingPipeline pipeline(StageGolden golden, int stageCount, PipeDream schedule,
            Optimizing optimizing, Supplier<Engine> engine) {
        return pipeline(golden, stageCount, schedule, schedule.plan(stageCount, 1, STEPS), optimizing, engine);
    }

    private static OverlappingPipeline pipeline(StageGolden golden, int stageCount, PipeDream schedule, Plan plan,
            Optimizing optimizing, Supplier<Engine> engine) {
        return new OverlappingPipeline(golden, Partition.uniform(golden.model(), stageCount), plan, 1,
                certificate(stageCount, schedule).weights(), optimizing, engine,
                golden.initial);
    }

    private static Certificate certificate(int stageCount, PipeDream schedule) {
        return PlanValidator.certify(new AddTransfers().apply(schedule.plan(stageCount, 1, 3 * stageCount)),
                Purpose.TRAINING, 1);
    }

    /** A stage has the buffers that the certificate counts, and no other. */
    @Test
    void shouldHoldTheVersionsOfTheCertificate() {
        Supplier<Engine> engine = () -> new ReferenceEngine(DataType.FLOAT64);
        try (StageGolden golden = new StageGolden(UNTIED);
                OverlappingPipeline stashing = pipeline(golden, 3, new PipeDream(false), optimizing("sgd"), engine);
                OverlappingPipeline vertical = pipeline(golden, 3, new PipeDream(true), optimizing("sgd"), engine);
                NaivePipeline synchronous = new NaivePipeline(golden, Partition.uniform(golden.model(), 3), 1)) {
            for (int stage = 0; stage < 3; stage++) {
                long weights = synchronous.stages.get(stage).weightBytes();
                assertEquals((3 - stage) * weights, stashing.stages.get(stage).weightBytes());
                assertEquals(3 * weights, vertical.stages.get(stage).weightBytes());
                assertEquals(synchronous.stages.get(stage).gradientBytes(),
                        stashing.stages.get(stage).gradientBytes());
            }
        }
    }

    /** After any number of updates, whichever buffer has a version. */
    @Test
    void shouldRestoreAllVersionsFromItsState() {
        Supplier<Engine> engine = () -> new ReferenceEngine(DataType.FLOAT64);
        try (StageGolden golden = new StageGolden(UNTIED);
                OverlappingPipeline one = pipeline(golden, 4, new PipeDream(false), optimizing("sgd"), engine);
                OverlappingPipeline other = pipeline(golden, 4, new PipeDream(false), optimizing("sgd"), engine)) {
            Stage trained = one.stages.getFirst();
            one.train();
            Map<String, double[]> saved = HostCopies.values(one.engines.subList(0, 1), List.of(trained.state()));
            assertEquals(4L * trained.weights().size(), saved.size());
            Stage restored = other.stages.getFirst();
            restored.load((tensor, shape, type, target) -> HostCopies.write(saved.get(tensor), type, target));
            for (int updates = 0; updates < 4; updates++) {
                assertEquals(activation(golden, one, updates), activation(golden, other, updates));
                assertEquals(updates == 0, activation(golden, one, updates) == activation(golden, one, 0));
            }
        }
    }

    /** Returns the first number of stage 0's output for the first sequence on the weights before some updates. */
    private static double activation(StageGolden golden, OverlappingPipeline pipeline, int updates) {
        Stage stage = pipeline.stages.getFirst();
        stage.use(updates, 0);
        var output = stage.forwardOnly(0, null, rows(golden, 0));
        double first = HostCopies.values(List.of(pipeline.engines.getFirst()),
                List.of(List.of(new StateTensor("output", output, TensorSlice.whole(output.shape()),
                        false))))
                .get("output")[0];
        stage.boundary().release(output);
        return first;
    }

    private record Delayed(List<StepResult> results, Map<String, double[]> weights) {
    }

    /**
     * The loop {@code g = grad(microbatch t, (W_0[max(0, t-d_0)], W_1[max(0, t-d_1)], ...)); W[t+1] = U(W[t], g)}, with the
     * weights of stage s in W_s: one stage of all layers has the older weights and computes the gradients, another one has
     * the newest and updates them.
     */
    private static Delayed delayed(StageGolden golden, OverlappingPipeline stages, List<Integer> delays,
            Optimizing optimizing, Supplier<Engine> engines) {
        StageSettings settings = new StageSettings(1, golden.sequenceLength, 1, optimizing.optimizer());
        Partition whole = Partition.uniform(golden.model(), 1);
        List<Map<String, double[]>> history = new ArrayList<>();
        List<StepResult> results = new ArrayList<>();
        try (Engine olderEngine = engines.get();
                Engine newestEngine = engines.get();
                Stage older = Stage.create(olderEngine, whole, 0, settings, golden.initial);
                Stage newest = Stage.create(newestEngine, whole, 0, settings, golden.initial)) {
            for (int step = 0; step < STEPS; step++) {
                history.add(HostCopies.values(List.of(newestEngine), List.of(newest.state())));
                Map<String, double[]> read = new HashMap<>(history.getLast());
                for (int stage = 0; stage < delays.size(); stage++) {
                    Map<String, double[]> version = history.get(Math.max(0, step - delays.get(stage)));
                    stages.stages.get(stage).weights()
                            .forEach(weight -> read.put(weight.name(), version.get(weight.name())));
                }
                older.load((tensor, shape, type, target) -> HostCopies.write(read.get(tensor), type, target));
                older.forward(0, null, rows(golden, step));
                older.backward(0, null);
                if (older.tiedEnd() == TiedEnd.BOTH) {
                    older.tied().reduce();
                }
                List<LayerSquaredSum> sums = new ArrayList<>();
                older.squaredSums((block, part, sum) -> sums.add(new LayerSquaredSum(block, part, sum)));
                results.add(new StepResult(older.loss(0), GlobalNorm.of(sums)));
                HostCopies.copyAll(olderEngine, older.gradients(), newestEngine, newest.gradients());
                older.skipStep();
                newest.optimizerStep(optimizing.learningRate(), 1, step + 1);
            }
            return new Delayed(results, HostCopies.values(List.of(newestEngine), List.of(newest.weights())));
        }
    }

    private static MicrobatchRows rows(StageGolden golden, int step) {
        return new MicrobatchRows(golden.tokens(0, step, 1, 0), golden.tokens(0, step, 1, 1));
    }
}
