package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorShare;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import dev.troupe.protocol.run.GlobalNorm;
import dev.troupe.protocol.run.LayerSquaredSum;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.certificate.WeightVersions;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.PipeDream2Bw.Updates;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.shard.Overlap;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.NaivePipeline.StepResult;
import dev.troupe.stage.OverlappingPipeline.Optimizing;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stages with overlapping steps, against PyTorch and against one device that trains on weights of one update before. */
@Tag("parity")
@Dealt(3)
class OverlapTest {
    private static final double TOLERANCE = 1e-9;

    /** Four microbatches of two sequences, tied tables, clipping, AdamW. */
    @ParameterizedTest
    @CsvSource("4, LAZY, 1")
    void shouldTrainAsPyTorchDoesWithADelayOfOne(int stageCount, Updates updates, int warmUp) {
        assertGolden(stageCount, updates, warmUp);
    }

    @ParameterizedTest
    @Tag("long")
    @CsvSource({"1, LAZY, 1", "2, LAZY, 1", "3, LAZY, 2", "4, EAGER, 1"})
    void shouldTrainAsPyTorchDoesUnderEveryPlan(int stageCount, Updates updates, int warmUp) {
        assertGolden(stageCount, updates, warmUp);
    }

    private static void assertGolden(int stageCount, Updates updates, int warmUp) {
        try (StageGolden golden = new StageGolden(StageGolden.DELAYED);
                OverlappingPipeline pipeline = pipeline(golden, stageCount, new PipeDream2Bw(updates, warmUp),
                        golden.steps, 4, Optimizing.of(golden), () -> new ReferenceEngine(DataType.FLOAT64))) {
            List<StepResult> results = pipeline.train();
            for (int step = 0; step < golden.steps; step++) {
                assertEquals(golden.losses[step], results.get(step).loss(), TOLERANCE * golden.losses[step],
                        "loss " + step);
                assertEquals(golden.norms[step], results.get(step).norm(), TOLERANCE * golden.norms[step],
                        "norm " + step);
            }
            StageParityTest.assertClose(golden.finalWeights, weights(pipeline));
        }
    }

    @Test
    void shouldHaveTheBitsOfOneDeviceOnDelayedWeights() {
        assertSameBits(StageGolden.DELAYED, "float32", List.of(1, 3), List.of(Updates.LAZY));
    }

    /** The oracle takes the change of one update, and corrects it on the host. */
    @ParameterizedTest
    @CsvSource({"1, LAZY", "3, LAZY", "2, EAGER"})
    void shouldFeedBackTheErrorOfTheDelay(int stageCount, Updates updates) {
        Supplier<Engine> engine = () -> new ReferenceEngine(DataType.FLOAT64);
        try (StageGolden golden = new StageGolden(StageGolden.DELAYED)) {
            Optimizing plain = new Optimizing(golden.optimizer, golden.learningRate, 0.5);
            Optimizing corrected = new Optimizing(new Optimizer.ErrorFeedback(golden.optimizer), golden.learningRate,
                    0.5);
            Delayed expected = delayed(golden, plain, engine, OverlapTest::corrected);
            try (OverlappingPipeline pipeline = pipeline(golden, stageCount, new PipeDream2Bw(updates, 1), 4, 4,
                    corrected,
                    engine)) {
                assertEquals(expected.results, pipeline.train());
                assertSameBits(expected.weights, weights(pipeline));
            }
        }
    }

    /** Returns {@code W + u + (u - p)} for the update {@code u}, which p is afterwards; only {@code W + u} for the first. */
    private static double[] corrected(double[] before, double[] after, double[] previous, boolean isFirst) {
        double[] result = new double[before.length];
        for (int i = 0; i < before.length; i++) {
            double update = after[i] - before[i];
            result[i] = isFirst ? after[i] : after[i] + (update - previous[i]);
            previous[i] = update;
        }
        return result;
    }

    @Test
    void shouldRefuseFeedbackWithoutAnError() {
        StageSettings settings = new StageSettings(1, 8, 4, new Optimizer.ErrorFeedback(new Optimizer.Sgd(0)));
        try (StageGolden golden = new StageGolden(StageGolden.DELAYED);
                Engine engine = new ReferenceEngine(DataType.FLOAT64)) {
            assertEquals(
                    "error feedback corrects a delay of one update, but gradients of this stage are 0 updates old: leave it"
                            + " out, or take another schedule",
                    assertThrows(IllegalArgumentException.class,
                            () -> Stage.create(engine, Partition.uniform(golden.model(), 1), 0, settings,
                                    golden.initial))
                            .getMessage());
        }
    }

    @ParameterizedTest
    @Tag("long")
    @CsvSource({"gpt2-2bw, float32", "gpt2-2bw, bfloat16", "gpt2-untied-sgd, float32", "gpt2-untied-sgd, bfloat16"})
    void shouldHaveTheBitsOfOneDeviceUnderEveryPlan(String name, String type) {
        assertSameBits(name, type, List.of(1, 2, 3, 4), List.of(Updates.values()));
    }

    /** An update adds to the velocity that the one before has left, though both gradients are of older weights. */
    @ParameterizedTest
    @CsvSource({"false, LAZY", "true, EAGER"})
    void shouldHaveTheBitsOfOneDeviceOnDelayedWeightsWithMomentum(boolean nesterov, Updates updates) {
        assertSameBits(StageGolden.DELAYED, _ -> new Optimizer.Sgd(0.1, 0.9, nesterov), "float32", List.of(3),
                List.of(updates));
    }

    private static void assertSameBits(String name, String type, List<Integer> stageCounts, List<Updates> places) {
        assertSameBits(name, own -> own, type, stageCounts, places);
    }

    private static void assertSameBits(String name, UnaryOperator<Optimizer> optimizer, String type,
            List<Integer> stageCounts, List<Updates> places) {
        Supplier<Engine> engine = () -> new CpuEngineProvider().open(type.equals("float32")
                ? new EngineSettings(DataType.FLOAT32, 1)
                : new EngineSettings(DataType.FLOAT32, DataType.BFLOAT16, 1));
        try (StageGolden golden = new StageGolden(name, optimizer)) {
            Optimizing clipped = new Optimizing(golden.optimizer, golden.learningRate, 0.5);
            Delayed expected = delayed(golden, clipped, engine, (_, after, _, _) -> after);
            for (int stageCount : stageCounts) {
                for (Updates updates : places) {
                    try (OverlappingPipeline pipeline = pipeline(golden, stageCount, new PipeDream2Bw(updates, 1), 4, 4,
                            clipped, engine)) {
                        assertEquals(expected.results, pipeline.train(), stageCount + " stages, " + updates);
                        assertSameBits(expected.weights, weights(pipeline));
                    }
                }
            }
        }
    }

    @Test
    void shouldKeepTheWeightsBeforeTheLastUpdateInItsState() {
        try (StageGolden golden = new StageGolden(StageGolden.DELAYED);
                OverlappingPipeline one = pipeline(golden, 1, new PipeDream2Bw(Updates.LAZY, 1), 1, 4,
                        Optimizing.of(golden), () -> new ReferenceEngine(DataType.FLOAT64));
                OverlappingPipeline other = pipeline(golden, 1, new PipeDream2Bw(Updates.LAZY, 1), 1, 4,
                        Optimizing.of(golden), () -> new ReferenceEngine(DataType.FLOAT64))) {
            double before = loss(golden, one, 0);
            assertEquals(before, loss(golden, one, 1), "at first both versions are the same");
            one.train();
            assertEquals(before, loss(golden, one, 1));
            double after = loss(golden, one, 0);
            assertNotEquals(before, after);
            Map<String, double[]> saved = HostCopies.values(one.engines,
                    one.stages.stream().map(Stage::state).toList());
            assertTrue(saved.containsKey("before.transformer.wte.weight") || saved.containsKey("before.wte.weight"),
                    saved.keySet().toString());
            other.stages.getFirst()
                    .load((tensor, shape, type, target) -> MemorySegment.copy(saved.get(tensor), 0, target,
                            ValueLayout.JAVA_DOUBLE, 0, (int) shape.elementCount()));
            assertEquals(before, loss(golden, other, 1));
            assertEquals(after, loss(golden, other, 0));
        }
    }

    private static double loss(StageGolden golden, OverlappingPipeline pipeline, int updatesBehind) {
        Stage stage = pipeline.stages.getFirst();
        stage.use(updatesBehind, 0);
        stage.forwardOnly(0, null, rows(golden, 0, 0, 2));
        return stage.loss(0);
    }

    @Test
    void shouldCountBothVersionsAndBothSums() {
        try (StageGolden golden = new StageGolden(StageGolden.DELAYED);
                OverlappingPipeline lazy = pipeline(golden, 2, new PipeDream2Bw(Updates.LAZY, 1), 4, 4,
                        Optimizing.of(golden), () -> new ReferenceEngine(DataType.FLOAT64));
                OverlappingPipeline eager = pipeline(golden, 2, new PipeDream2Bw(Updates.EAGER, 1), 4, 4,
                        Optimizing.of(golden), () -> new ReferenceEngine(DataType.FLOAT64));
                NaivePipeline synchronous = new NaivePipeline(golden, Partition.uniform(golden.model(), 2), 2)) {
            for (int stage = 0; stage < 2; stage++) {
                long weights = synchronous.stages.get(stage).weightBytes();
                long gradients = synchronous.stages.get(stage).gradientBytes();
                assertEquals(2 * weights, lazy.stages.get(stage).weightBytes());
                assertEquals(2 * weights, eager.stages.get(stage).weightBytes());
                assertEquals(2 * gradients, lazy.stages.get(stage).gradientBytes());
                assertEquals(gradients, eager.stages.get(stage).gradientBytes());
            }
        }
    }

    @Test
    void shouldRefuseOtherNumbersOfCopies() {
        for (int[] wrong : new int[][]{{0, 1}, {1, 0}}) {
            assertThrows(IllegalArgumentException.class, () -> new Overlap(wrong[0], wrong[1]));
        }
    }

    @Test
    void shouldRefuseToOverlapIfRanksShareOutGradients() {
        StageSettings settings = new StageSettings(1, 8, 4, new Optimizer.Sgd(0)).with(new Overlap(2, 2));
        try (StageGolden golden = new StageGolden(StageGolden.DELAYED);
                Engine engine = new ReferenceEngine(DataType.FLOAT64)) {
            DataShare two = new DataShare(new InMemoryGroup(2).member(0, engine), Zero.GRADIENTS, Runnable::run);
            assertEquals(
                    "a rank has a share of each gradient, or of each weight, but steps overlap: their ranks keep whole sums of"
                            + " gradients and whole versions of the weights",
                    assertThrows(IllegalArgumentException.class,
                            () -> Stage.create(engine, Partition.uniform(golden.model(), 1), 0, settings,
                                    TensorShare.ALL, two,
                                    golden.initial))
                            .getMessage());
        }
    }

    private static OverlappingPipeline pipeline(StageGolden golden, int stageCount, PipeDream2Bw schedule, int steps,
            int microbatches, Optimizing optimizing, Supplier<Engine> engine) {
        Plan plan = schedule.plan(stageCount, microbatches, steps);
        WeightVersions weights = PlanValidator
                .certify(new AddTransfers().apply(schedule.plan(stageCount, microbatches, 4)),
                        Purpose.TRAINING, 1)
                .weights();
        return new OverlappingPipeline(golden, Partition.uniform(golden.model(), stageCount), plan,
                golden.batchSize / microbatches, weights, optimizing, engine, golden.initial);
    }

    private static Map<String, double[]> weights(OverlappingPipeline pipeline) {
        return HostCopies.values(pipeline.engines, pipeline.stages.stream().map(Stage::weights).toList());
    }

    private record Delayed(List<StepResult> results, Map<String, double[]> weights) {
    }

    /** Changes the weights of a tensor after an update. */
    private interface Correction {
        double[] of(double[] before, double[] after, double[] previous, boolean isFirst);
    }

    /**
     * The loop {@code g = grad(batch t, W[max(t-1, 0)]); W[t+1] = U(W[t], g)} with one version a stage: one stage has the
     * older weights and computes the gradients, another one has the newest and updates them.
     */
    private static Delayed delayed(StageGolden golden, Optimizing optimizing, Supplier<Engine> engines,
            Correction correction) {
        int microbatches = 4;
        int size = golden.batchSize / microbatches;
        StageSettings settings = new StageSettings(size, golden.sequenceLength, microbatches, optimizing.optimizer());
        Partition whole = Partition.uniform(golden.model(), 1);
        List<StepResult> results = new ArrayList<>();
        Map<String, double[]> previous = new HashMap<>();
        try (Engine olderEngine = engines.get();
                Engine newestEngine = engines.get();
                Stage older = Stage.create(olderEngine, whole, 0, settings, golden.initial);
                Stage newest = Stage.create(newestEngine, whole, 0, settings, golden.initial)) {
            for (int step = 0; step < 4; step++) {
                double loss = 0;
                for (int microbatch = 0; microbatch < microbatches; microbatch++) {
                    older.forward(microbatch, null, rows(golden, step, microbatch, size));
                    loss += older.loss(microbatch);
                    older.backward(microbatch, null);
                }
                if (older.tiedEnd() == TiedEnd.BOTH) {
                    older.tied().reduce();
                }
                List<LayerSquaredSum> sums = new ArrayList<>();
                older.squaredSums((block, part, sum) -> sums.add(new LayerSquaredSum(block, part, sum)));
                results.add(new StepResult(loss / microbatches, GlobalNorm.of(sums)));
                HostCopies.copyAll(olderEngine, older.gradients(), newestEngine, newest.gradients());
                older.skipStep();
                Map<String, double[]> now = HostCopies.values(List.of(newestEngine), List.of(newest.state()));
                older.load((tensor, shape, type, target) -> HostCopies.write(now.get(tensor), type, target));
                newest.optimizerStep(optimizing.learningRate(),
                        GlobalNorm.clipCoefficient(results.getLast().norm(), optimizing.clip()), step + 1);
                Map<String, double[]> then = HostCopies.values(List.of(newestEngine), List.of(newest.state()));
                for (StateTensor weight : newest.weights()) {
                    double[] before = now.get(weight.name());
                    then.put(weight.name(), correction.of(before, then.get(weight.name()),
                            previous.computeIfAbsent(weight.name(), _ -> new double[before.length]), step == 0));
                }
                newest.load((tensor, shape, type, target) -> HostCopies.write(then.get(tensor), type, target));
            }
            return new Delayed(results, HostCopies.values(List.of(newestEngine), List.of(newest.weights())));
        }
    }

    private static MicrobatchRows rows(StageGolden golden, int step, int microbatch, int size) {
        return new MicrobatchRows(golden.tokens(step, microbatch, size, 0), golden.tokens(step, microbatch, size, 1));
    }

    private static void assertSameBits(Map<String, double[]> expected, Map<String, double[]> found) {
        assertEquals(expected.keySet(), found.keySet());
        expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), name));
    }
}
