package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Balance;
import dev.troupe.model.spec.ExpertTraining;
import dev.troupe.model.spec.Section;
import dev.troupe.partition.Partition;
import dev.troupe.stage.NaivePipeline.StepResult;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Small models with experts on the tokens of a golden, with their gradients by finite differences. */
final class ExpertTrials {
    static final String ROUTER = "model.layers.0.block_sparse_moe.gate.weight";
    static final String EXPERT = "model.layers.0.block_sparse_moe.experts.";
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;

    private ExpertTrials() {
    }

    /** A model for the tokens of the golden. */
    static ModelSpec mixtral(int experts, int perToken, double auxiliaryLoss) {
        return model("mixtral", Map.of("experts", experts, "experts-per-token", perToken, "auxiliary-loss",
                auxiliaryLoss));
    }

    /** The same of a family, with more in its section. */
    static ModelSpec model(String family, Map<String, Object> more) {
        Map<String, Object> values = new HashMap<>(dense());
        values.putAll(more);
        return ModelFamilies.named(family).read(new Section(values));
    }

    static Map<String, Object> dense() {
        return Map.of("layers", 2, "hidden", 16, "heads", 4, "inner", 12, "sequence-length", 20, "vocabulary-size", 96,
                "tie-embeddings", false);
    }

    static StageGolden golden() {
        return new StageGolden("mixtral-aux");
    }

    static NaivePipeline pipeline(StageGolden golden, ModelSpec model, int stageCount, int microbatchSize,
            WeightSource source) {
        return new NaivePipeline(golden, Partition.uniform(model, stageCount), microbatchSize, source);
    }

    static void requireFiniteDifferences(ModelSpec model, String router, List<String> names) {
        double step = 1e-5;
        InitialWeights initial = new InitialWeights(model, 5);
        // Scores that differ, so that a step changes no choice.
        WeightSource spread = changing(initial, router, numbers -> Arrays.setAll(numbers, i -> 20 * numbers[i]));
        try (StageGolden golden = golden()) {
            Map<String, double[]> gradients;
            try (NaivePipeline pipeline = pipeline(golden, model, 1, 2, spread)) {
                pipeline.gradients(0, Order.WHOLE_BACKWARDS);
                gradients = pipeline.values(Stage::gradients);
            }
            for (String name : names) {
                double[] gradient = gradients.get(name);
                double largest = Arrays.stream(gradient).map(Math::abs).max().orElseThrow();
                assertTrue(largest > 0, name);
                for (int index = 0; index < gradient.length; index += 1 + gradient.length / 7) {
                    double difference = (totalLoss(golden, model, spread, name, index, step)
                            - totalLoss(golden, model, spread, name, index, -step)) / (2 * step);
                    assertEquals(difference, gradient[index], 1e-6 * Math.max(1e-2, largest), name + " " + index);
                }
            }
        }
    }

    /** The loss that is minimized, with one weight changed. */
    static double totalLoss(StageGolden golden, ModelSpec model, WeightSource source, String name, int index,
            double step) {
        try (NaivePipeline pipeline = pipeline(golden, model, 1, 2,
                changing(source, name, numbers -> numbers[index] += step))) {
            StepResult result = pipeline.gradients(0, Order.WHOLE_BACKWARDS);
            double others = 0;
            ExpertTraining training = model.balance().orElseThrow().training();
            for (int microbatch = 0; microbatch < 4; microbatch++) {
                Balance.Measure measure = measure(pipeline, microbatch);
                others += training.auxiliaryLoss() == 0 ? 0 : training.auxiliaryLoss() * measure.auxiliaryLoss() / 4;
                others += training.routerZLoss() == 0 ? 0 : training.routerZLoss() * measure.routerZLoss() / 4;
            }
            return result.loss() + others;
        }
    }

    interface Change {
        void to(double[] numbers);
    }

    static WeightSource changing(WeightSource source, String changed, Change change) {
        return (name, shape, type, target) -> {
            source.read(name, shape, type, target);
            if (name.equals(changed)) {
                double[] numbers = target.toArray(DOUBLE);
                change.to(numbers);
                MemorySegment.copy(numbers, 0, target, DOUBLE, 0, numbers.length);
            }
        };
    }

    /** Fills what is allocated after the stages, such as activations, with NaN. */
    static final class NotANumber extends ObservedShares {
        boolean isOn;
        int count;

        @Override
        void ended(ReferenceEngine engine, Kernel kernel, Tensor result) {
            if (isOn && kernel == Kernel.ALLOCATE && result.dataType() == DataType.FLOAT64) {
                count++;
                engine.fill(result, Double.NaN);
            }
        }
    }

    /** Returns the measures of a microbatch on the last stage. */
    static Balance.Measure measure(NaivePipeline pipeline, int microbatch) {
        return pipeline.stages.getLast().experts(microbatch);
    }

    /** Initial weights, but for routers that send all tokens to the first of some experts: see the embedding's column 0. */
    static WeightSource choosingTheFirst(ModelSpec model, int experts) {
        WeightSource source = changing(new InitialWeights(model, 6), "model.embed_tokens.weight",
                numbers -> Arrays.setAll(numbers, i -> i % 16 == 0 ? 1 : numbers[i]));
        for (String router : List.of(ROUTER, ROUTER.replace("0", "1"))) {
            source = changing(source, router,
                    numbers -> Arrays.setAll(numbers, i -> i % 16 > 0 ? numbers[i] : i < 16 * experts ? 10 : -10));
        }
        return source;
    }
}
