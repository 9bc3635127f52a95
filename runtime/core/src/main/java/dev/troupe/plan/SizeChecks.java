package dev.troupe.plan;

import dev.troupe.config.RunSpec;
import dev.troupe.engine.TooManyElementsException;
import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.protocol.Edge;
import dev.troupe.stage.StageSettings;
import java.math.BigInteger;
import java.util.Locale;

/**
 * The checks of sizes before anything is allocated. They refuse counts that overflow, and plans that would take too long to
 * prepare. All products here have 64 bits and do not overflow, since the factors were checked before.
 */
public final class SizeChecks {
    /**
     * Forwards of a pipeline in a step: P V M. Every process has the whole plan, with about six actions for each forward. At
     * this limit it takes a GiB of heap, and a minute before the start.
     */
    static final long MOST_FORWARDS = 1 << 20;
    /** Layers times microbatches: the memory count of a rank takes some microseconds for each. */
    static final long MOST_LAYER_FORWARDS = 1 << 23;

    private SizeChecks() {
    }

    /**
     * Checks the cut of a model by arithmetic alone; the model itself was checked before.
     *
     * @throws UsageException with the number that is too large and the key to change
     */
    public static void require(RunSpec spec, ModelSpec model, int sequenceLength) {
        int microbatchSize = spec.training().microbatchSize();
        atMost((long) microbatchSize * sequenceLength, TooManyElementsException.MOST, String.format(Locale.ROOT,
                "training.microbatch-size = %d sequences of %d tokens are ", microbatchSize, sequenceLength)
                + "%,d rows, and a tensor has at most %,d: lower one of them");
        atMost(spec.parallel().stageCount(), Edge.MAX_INDEX + 1L, "parallel.pipeline x parallel.virtual-stages are %,d"
                + " stages, and a model has at most %,d: lower one of them");
        requireLayersThatCanBe(model, spec.parallel().tensor());
        long microbatches = spec.microbatchCount();
        atMost(spec.parallel().stageCount() * microbatches, MOST_FORWARDS,
                "a step would have %,d forwards (parallel.pipeline"
                        + " x parallel.virtual-stages x microbatches), and a plan has at most %,d: lower"
                        + " training.global-batch-size, or raise training.microbatch-size");
        atMost((model.blockCount() + 2) * microbatches, MOST_LAYER_FORWARDS,
                "a step would lead %,d times through a layer (layers x"
                        + " microbatches), and it does so at most %,d times: lower training.global-batch-size, or raise"
                        + " training.microbatch-size");
    }

    /**
     * Checks a model's description alone, before its tensors are listed.
     *
     * @throws UsageException with the number that is too large and the key to change
     */
    public static void requireModel(ModelSpec model) {
        atMost(model.blockCount(), ModelSpec.MOST_BLOCKS,
                "the model has %,d blocks, and a model has at most %,d: lower"
                        + " model.layers");
    }

    static void atMost(long found, long most, String sentence) {
        if (found > most) {
            throw new UsageException(String.format(Locale.ROOT, sentence, found, most));
        }
    }

    /** Refuses layers that do not fit a buffer: a rank's part of a layer is stored or gathered in one. */
    private static void requireLayersThatCanBe(ModelSpec model, int tensor) {
        for (LayerSpec layer : model.layers()) {
            long weights = layer.parameterCount() / tensor; // rounded down: the exact number is the walk's
            if (weights > TooManyElementsException.MOST) {
                boolean hasTable = layer.parameters().stream().anyMatch(ParameterSpec::isVocabularyTable);
                throw new UsageException(String.format(Locale.ROOT,
                        "the layer %s would have %,d weights on each of parallel.tensor = %d ranks, and a rank has at most"
                                + " %,d of a stage: raise parallel.tensor, or lower %s",
                        layer.name(), weights, tensor, TooManyElementsException.MOST,
                        hasTable ? "model.vocabulary-size or model.hidden" : "model.hidden"));
            }
        }
    }

    /**
     * Returns the refusal of a tensor that is too large, which the walk of a rank has found.
     *
     * @param doing the action of the rank; empty if it was creating the stage
     */
    public static UsageException refusal(TrainingPlan plan, int rank, int stage, String doing,
            TooManyElementsException tensor) {
        String where = String.format(Locale.ROOT, "rank %d, stage %d of %d%s", rank, stage,
                plan.partition().stageCount(),
                doing.isEmpty() ? "" : ", " + doing);
        if (tensor.sizes().length == 1) {
            return new UsageException(String.format(Locale.ROOT,
                    "%s: a buffer of %,d weights is needed, and one has at most %,d: raise parallel.tensor, take more"
                            + " stages (parallel.pipeline, parallel.virtual-stages), or a smaller model",
                    where, tensor.elementCount(), TooManyElementsException.MOST), tensor);
        }
        return new UsageException(String.format(Locale.ROOT, "%s: %s %s would have %,d elements, and a tensor has at"
                + " most %,d: %s", where, nameOf(plan, tensor), text(tensor.sizes()), tensor.elementCount(),
                TooManyElementsException.MOST, advice(plan.stageSettings(), tensor.elementCount())), tensor);
    }

    private static String nameOf(TrainingPlan plan, TooManyElementsException tensor) {
        ModelSpec model = plan.model();
        int ranks = plan.ranks().tensor();
        long[] sizes = tensor.sizes();
        long width = sizes[sizes.length - 1];
        if (sizes.length > 2
                || sizes[0] % plan.stageSettings().rows() != 0 && sizes[0] != plan.stageSettings().rows() / ranks) {
            return "attention's state";
        }
        int vocabulary = model.size(Axis.VOCABULARY);
        if (width == vocabulary / ranks || width == Math.ceilDiv(vocabulary, ranks)) {
            return "the logits";
        }
        if (width == model.size(Axis.INNER) / ranks) {
            return "the inner activation of an MLP";
        }
        return model.has(Axis.QUERY_KEY_VALUE) && width == model.size(Axis.QUERY_KEY_VALUE) / ranks
                ? "queries, keys and values"
                : "an activation";
    }

    private static String text(long[] sizes) {
        StringBuilder text = new StringBuilder("[");
        for (long size : sizes) {
            text.append(text.length() == 1 ? "" : " x ").append(size);
        }
        return text.append(']').toString();
    }

    /**
     * Returns advice from the size for one sequence: every tensor of a microbatch grows with the number of its sequences.
     */
    private static String advice(StageSettings settings, BigInteger elements) {
        BigInteger ofOne = elements.divide(BigInteger.valueOf(settings.microbatchSize())); // exact
        BigInteger most = BigInteger.valueOf(TooManyElementsException.MOST).divide(ofOne); // rounded down
        return most.signum() > 0
                ? "lower training.microbatch-size to at most " + most + ", or raise parallel.tensor"
                : "lower model.sequence-length, or raise parallel.tensor";
    }
}
