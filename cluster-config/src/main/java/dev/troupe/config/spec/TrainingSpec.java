package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import java.time.Duration;
import java.util.Objects;

/**
 * The settings of training.
 *
 * @param steps optimizer steps, at least 1
 * @param globalBatchSize sequences per step over all pipelines: data x M x microbatch size
 * @param microbatchSize sequences per microbatch, at least 1
 * @param seed seed of the initial weights and of everything random but the order of the data
 * @param precision type of weights and activations
 * @param lossScale the factor of the loss before the backward
 * @param gradientClip greatest global norm of the gradients; 0: no clipping
 * @param checkpointEvery steps between checkpoints; 0: none but the last
 * @param checkpointInterval time between checkpoints; zero: by steps alone
 * @param keepCheckpoints number of the newest checkpoints to keep; 0: all
 * @param validateEvery steps between measurements of the validation loss; 0: none
 * @param validationMicrobatches microbatches of a measurement at most, in each pipeline; at least 1
 * @param zero the state that ranks with the same weights divide among them (ZeRO): 0 nothing; 1 optimizer state; 2
 *     gradients too; 3 weights too
 * @param gradientExchange the type of gradients on their way between ranks with the same weights
 * @param recompute the activations that are computed again in the backward instead of kept
 * @param replay how and when they are
 * @param dropout probability of an activation to drop out, from 0 to below 1
 * @param lora the low-rank adapters that alone are trained, if any
 * @param optimizer the rule that turns gradients into new weights
 * @param learningRate the learning rate over the steps
 */
public record TrainingSpec(int steps, int globalBatchSize, int microbatchSize, long seed, Precision precision,
        LossScaleSpec lossScale, double gradientClip, int checkpointEvery, Duration checkpointInterval,
        int keepCheckpoints, int validateEvery, int validationMicrobatches, int zero,
        GradientExchange gradientExchange, Recompute recompute, ReplaySpec replay, double dropout, LoraSpec lora,
        OptimizerSpec optimizer,
        LearningRateSpec learningRate) {

    /** Refuses a missing part. */
    public TrainingSpec {
        Objects.requireNonNull(precision, "precision");
        Objects.requireNonNull(lossScale, "lossScale");
        Objects.requireNonNull(checkpointInterval, "checkpointInterval");
        Objects.requireNonNull(gradientExchange, "gradientExchange");
        Objects.requireNonNull(recompute, "recompute");
        Objects.requireNonNull(replay, "replay");
        Objects.requireNonNull(lora, "lora");
        Objects.requireNonNull(optimizer, "optimizer");
        Objects.requireNonNull(learningRate, "learningRate");
    }

    /** Returns the same with gradients that do not travel, and so are not rounded on their way. */
    public TrainingSpec withoutExchange() {
        return new TrainingSpec(steps, globalBatchSize, microbatchSize, seed, precision, lossScale, gradientClip,
                checkpointEvery, checkpointInterval, keepCheckpoints, validateEvery, validationMicrobatches, zero,
                GradientExchange.FLOAT32, recompute, replay, dropout, lora, optimizer, learningRate);
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

    /** The type of gradients on their way between ranks with the same weights, which add them up in float32. */
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

    /** The activations that the backward computes again, to save memory. */
    public enum Recompute implements Word {
        /** All activations are kept. */
        NONE("none"),
        /** Large and cheap activations are computed again. */
        SELECTIVE("selective"),
        /** Only the input of each block is kept. */
        FULL("full");

        private final String word;

        Recompute(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }
}
