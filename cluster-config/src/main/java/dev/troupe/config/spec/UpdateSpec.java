package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import dev.troupe.config.spec.update.LearningRateSpec;
import dev.troupe.config.spec.update.LossScaleSpec;
import dev.troupe.config.spec.update.OptimizerSpec;
import dev.troupe.config.spec.update.ReplicasSpec;
import dev.troupe.config.value.Range;
import dev.troupe.config.value.Values;
import java.util.Objects;

/** The settings of the update: loss scale, clipping, exchange of gradients, optimizer, learning rate and replicas. */
public record UpdateSpec(LossScaleSpec lossScale, double gradientClip, GradientExchange gradientExchange,
        OptimizerSpec optimizer, LearningRateSpec learningRate, ReplicasSpec replicas) {

    public UpdateSpec {
        Objects.requireNonNull(lossScale, "lossScale");
        Objects.requireNonNull(gradientExchange, "gradientExchange");
        Objects.requireNonNull(optimizer, "optimizer");
        Objects.requireNonNull(learningRate, "learningRate");
        Objects.requireNonNull(replicas, "replicas");
    }

    static UpdateSpec read(Values values, int steps, TrainingSpec.Precision precision) {
        return new UpdateSpec(LossScaleSpec.read(values),
                values.decimal("training.gradient-clip", Range.NOT_NEGATIVE), gradientExchange(values, precision),
                OptimizerSpec.read(values), LearningRateSpec.read(values, steps), ReplicasSpec.read(values, steps));
    }

    private static GradientExchange gradientExchange(Values values, TrainingSpec.Precision precision) {
        String key = "training.gradient-exchange";
        GradientExchange exchange = values.word(key, GradientExchange.class, "");
        if (exchange == GradientExchange.BFLOAT16 && values.sound("parallel.data")) {
            boolean isAlone = values.integer("parallel.data", 1, ParallelSpec.MOST_RANKS) == 1;
            if (isAlone || precision == TrainingSpec.Precision.FLOAT64) {
                values.report(key, "float32 with " + (isAlone ? "parallel.data = 1" : "training.precision = float64"),
                        "bfloat16", isAlone ? "no gradients travel, so set parallel.data too" : "they travel whole");
            }
        }
        return exchange;
    }

    /** Returns whether each rank rounds its gradients before they are added up. */
    public boolean roundsGradients() {
        return gradientExchange == GradientExchange.BFLOAT16;
    }

    /** The type of gradients between ranks with the same weights, which add them up in float32. */
    public enum GradientExchange implements Word {
        /** As they are. */
        FLOAT32("float32"),
        /** Each rank rounds its own, which halves the bytes. */
        BFLOAT16("bfloat16");

        private final String word;

        GradientExchange(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }
}
