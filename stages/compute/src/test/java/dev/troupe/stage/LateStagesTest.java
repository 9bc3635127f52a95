package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.engine.late.LateEngine;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.Partition;
import dev.troupe.stage.NaivePipeline.Shares;
import dev.troupe.stage.NaivePipeline.StepResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Stages with engines that compute as late as fences allow have the bits of stages with engines that compute at once. */
@Tag("parity")
@Dealt(3)
class LateStagesTest {
    private static final int SEEDS = 20;
    private static final int STEPS = 2;
    private static final List<String> GOLDENS = List.of(StageGolden.TIED, StageGolden.UNTIED, StageGolden.UNEVEN);

    /** Orders that add up gradients alike, so that all of them give the same bits. */
    private static final List<Order> ORDERS = List.of(Order.ALL_FORWARDS_FIRST, Order.ONE_FORWARD_ONE_BACKWARD,
            Order.WEIGHT_GRADIENTS_LATE);
    /** By golden, in one stage. */
    private static final Map<Integer, Map<String, double[]>> AT_ONCE = new HashMap<>();

    /** Engines that draw their orders from one seed. */
    private record Late(long seed) implements Shares {
        @Override
        public TensorShare of(int stage, Engine engine) {
            return TensorShare.ALL;
        }

        @Override
        public Engine engine(DataType parameterType) {
            return new CheckedEngine(LateEngine
                    .over(new ReferenceEngineProvider().create(new EngineSettings(parameterType, 1)), seed));
        }
    }

    static IntStream seeds() {
        return IntStream.range(0, SEEDS);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldGiveTheBitsOfAnEngineThatComputesAtOnce(int seed) {
        Order order = ORDERS.get(seed / GOLDENS.size() % ORDERS.size());
        Recompute recompute = Recompute.values()[seed / 2 % Recompute.values().length];
        try (StageGolden golden = new StageGolden(GOLDENS.get(seed % GOLDENS.size()))) {
            Partition partition = Partition.uniform(golden.model(), seed % 2 == 0 ? 2 : 4);
            Map<String, double[]> expected = AT_ONCE.computeIfAbsent(seed % GOLDENS.size(), _ -> train(golden,
                    Partition.uniform(golden.model(), 1), Order.ALL_FORWARDS_FIRST, Recompute.NONE,
                    (stage, engine) -> TensorShare.ALL));
            Map<String, double[]> found = train(golden, partition, order, recompute, new Late(seed));
            assertEquals(expected.keySet(), found.keySet());
            expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), name));
        }
    }

    /** Returns the results of a few steps: weights by name, and the losses and norms under another. */
    private static Map<String, double[]> train(StageGolden golden, Partition partition, Order order,
            Recompute recompute,
            Shares shares) {
        try (NaivePipeline pipeline = new NaivePipeline(golden, partition, 2, golden.initial, recompute,
                DropoutSettings.NONE, DataType.FLOAT64, shares)) {
            List<Double> measures = new ArrayList<>();
            for (int step = 0; step < STEPS; step++) {
                StepResult result = pipeline.step(step, order);
                measures.addAll(List.of(result.loss(), result.norm()));
            }
            Map<String, double[]> values = pipeline.values(Stage::weights);
            values.put("measures", measures.stream().mapToDouble(Double::doubleValue).toArray());
            return values;
        }
    }
}
