package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import dev.troupe.config.value.Values;
import java.util.Objects;

/**
 * The settings of training: the section {@code training} of the defaults, which describe each key.
 *
 * @param globalBatchSize sequences per step over all pipelines: data x M x microbatch size
 * @param seed seed of the initial weights and of all random numbers except the order of the data
 */
public record TrainingSpec(int steps, int globalBatchSize, int microbatchSize, long seed, Precision precision,
        DropSpec drop, LoraSpec lora, UpdateSpec update, MemorySpec memory, CommitSpec commits) {
    private static final int MAX = Integer.MAX_VALUE;

    public TrainingSpec {
        Objects.requireNonNull(precision, "precision");
        Objects.requireNonNull(drop, "drop");
        Objects.requireNonNull(lora, "lora");
        Objects.requireNonNull(update, "update");
        Objects.requireNonNull(memory, "memory");
        Objects.requireNonNull(commits, "commits");
    }

    /** Reads the section {@code training}, and reports a precision that the engine does not have. */
    public static TrainingSpec read(Values values, EngineSpec engine) {
        int steps = values.integer("training.steps", 1, MAX);
        Precision precision = precision(values, engine);
        return new TrainingSpec(steps, values.integer("training.global-batch-size", 1, MAX),
                values.integer("training.microbatch-size", 1, MAX), values.seed("training.seed"), precision,
                DropSpec.read(values), LoraSpec.read(values),
                UpdateSpec.read(values, steps, precision), MemorySpec.read(values), CommitSpec.read(values));
    }

    private static Precision precision(Values values, EngineSpec engine) {
        String key = "training.precision";
        Precision precision = values.word(key, Precision.class,
                "bfloat16 is for activations and products with float32 weights, float64 for the engines nd4j and reference");
        if (precision == Precision.FLOAT64 && values.sound("engine.kind")
                && !EngineSpec.mayComputeInFloat64(engine.kind())) {
            values.report(key, "float32 with engine.kind = " + engine.kind(), "float64",
                    "set engine.kind to nd4j or reference, which compute in float64, or the precision to float32");
        }
        return precision;
    }

    /** Types of weights and activations. */
    public enum Precision implements Word {
        /** IEEE 754 binary32. */
        FLOAT32("float32"),
        /** Activations and operands of products of bfloat16, everything else of float32. */
        BFLOAT16("bfloat16"),
        /** IEEE 754 binary64, for comparisons; the engines {@code reference} and {@code nd4j}. */
        FLOAT64("float64");

        private final String word;

        Precision(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }
}
