package dev.troupe.config.spec;

import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.Problem;
import dev.troupe.config.spec.update.ReplicasSpec;
import dev.troupe.config.value.Values;
import java.util.List;

/**
 * The axes that change no bit of a run, since sums over them have one order: {@code parallel.invariant}.
 *
 * @param data whether one tree adds the gradients of all microbatches of a step
 * @param expert whether ranks that divide experts add in that tree, too
 */
public record InvariantSpec(boolean data, boolean expert) {
    public static final String KEY = "parallel.invariant";
    private static final String DATA = "data";
    private static final String EXPERT = "expert";
    private static final String EXPECTED = "a list of axes: [], [data] or [data, expert]";
    private static final int LEAST_ZERO_OF_EXPERTS = 2;

    /**
     * Reads the key, and reports values of others under which the sums could not have one order.
     *
     * @param microbatches D M, the microbatches of a step over all pipelines; 0 if that is no whole number
     */
    public static InvariantSpec read(Values values, ParallelSpec parallel, TrainingSpec training, int microbatches) {
        List<String> axes = values.each(KEY, EXPECTED, InvariantSpec::axis);
        InvariantSpec spec = new InvariantSpec(axes.contains(DATA), axes.contains(EXPERT));
        if (spec.expert && !spec.data) {
            values.report(KEY,
                    "data in the list with expert, since the ranks that divide experts are data-parallel ones",
                    "" + axes, "write [data, expert]");
        }
        if (spec.data && values.sound(KEY)) {
            spec.check(values, parallel, training, microbatches);
        }
        return spec;
    }

    private static String axis(String text, String key, String origin) {
        return switch (text) {
            case DATA, EXPERT -> text;
            case "tensor" -> throw refusal(key, origin, text, "leave it out: the ranks of a tensor-parallel group cut"
                    + " products by their number, so parallel.tensor still changes bits");
            default -> throw refusal(key, origin, text, "");
        };
    }

    private static ConfigException refusal(String key, String origin, String found, String hint) {
        return new ConfigException(List.of(new Problem(key, origin, EXPECTED, '"' + found + '"', hint)));
    }

    private void check(Values values, ParallelSpec parallel, TrainingSpec training, int microbatches) {
        if (microbatches > 0 && Integer.bitCount(microbatches) != 1) {
            values.report("training.global-batch-size",
                    "a power of two of microbatches per step with " + KEY + ", for a balanced tree over them",
                    microbatches + " microbatches of " + training.microbatchSize(),
                    "the nearest that fit are " + training.microbatchSize() * Integer.highestOneBit(microbatches)
                            + " and "
                            + 2L * training.microbatchSize() * Integer.highestOneBit(microbatches));
        }
        if (parallel.expert() > 1 && !expert) {
            values.report(KEY, "[data, expert] with parallel.expert = " + parallel.expert(), "[data]",
                    "ranks that divide experts add the gradients of these");
        }
        if (parallel.expert() > 1 && training.memory().zero() < LEAST_ZERO_OF_EXPERTS) {
            values.report("training.zero", "2 or 3 with " + KEY + " and parallel.expert = " + parallel.expert(),
                    "" + training.memory().zero(),
                    "gradients of experts are then added over ranks after each microbatch, and with them the gradients of all weights");
        }
        if (training.update().roundsGradients()) {
            values.report("training.gradient-exchange", "float32 with " + KEY, "bfloat16",
                    "each rank rounds the sum of its own microbatches, which depends on the number of ranks");
        }
        if (training.update().replicas().mode() != ReplicasSpec.Mode.NONE) {
            values.report("training.replicas.mode", "none with " + KEY, training.update().replicas().mode().word(),
                    "each pipeline then has weights of its own, which depend on its microbatches");
        }
        if (!parallel.replicas().isEmpty()) {
            values.report("parallel.replicas", "[] with " + KEY, "" + parallel.replicas(),
                    "the replicas of a stage take steps of their own");
        }
    }
}
