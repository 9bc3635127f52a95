package dev.troupe.weights;

import dev.troupe.engine.Shape;
import dev.troupe.model.spec.ModelConfig;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** The names and shapes of a GPT-2 model's tensors, as published: matrices of a block are stored [in, out]. */
public final class ModelTensors {
    /** The token table, which is also the matrix of a tied head. */
    public static final String TOKEN_TABLE = "wte.weight";
    /** The position table. */
    public static final String POSITION_TABLE = "wpe.weight";
    /** The matrix of a head that is not tied. */
    public static final String HEAD = "lm_head.weight";

    private ModelTensors() {
    }

    /** Every tensor of a model, from the embedding to the head. */
    public static SequencedMap<String, Shape> of(ModelConfig config) {
        int hidden = config.hidden();
        SequencedMap<String, Shape> tensors = new LinkedHashMap<>();
        tensors.put(TOKEN_TABLE, Shape.of(config.vocabularySize(), hidden));
        tensors.put(POSITION_TABLE, Shape.of(config.sequenceLength(), hidden));
        for (int layer = 0; layer < config.layers(); layer++) {
            String block = "h." + layer + ".";
            putNorm(tensors, block + "ln_1", hidden);
            putLinear(tensors, block + "attn.c_attn", hidden, Math.multiplyExact(3, hidden));
            putLinear(tensors, block + "attn.c_proj", hidden, hidden);
            putNorm(tensors, block + "ln_2", hidden);
            putLinear(tensors, block + "mlp.c_fc", hidden, Math.multiplyExact(4, hidden));
            putLinear(tensors, block + "mlp.c_proj", Math.multiplyExact(4, hidden), hidden);
        }
        putNorm(tensors, "ln_f", hidden);
        if (!config.tiedEmbeddings()) {
            tensors.put(HEAD, Shape.of(config.vocabularySize(), hidden));
        }
        return tensors;
    }

    private static void putNorm(SequencedMap<String, Shape> tensors, String name, int size) {
        tensors.put(name + ".weight", Shape.of(size));
        tensors.put(name + ".bias", Shape.of(size));
    }

    private static void putLinear(SequencedMap<String, Shape> tensors, String name, int inputs, int outputs) {
        tensors.put(name + ".weight", Shape.of(inputs, outputs));
        tensors.put(name + ".bias", Shape.of(outputs));
    }
}
