package dev.troupe.model.gpt2;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.GgufModel;
import dev.troupe.model.ModelFamily;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * GPT-2 (Radford et al. 2019), published as {@code GPT2LMHeadModel}. Configurations with other arithmetic are refused:
 * another attention or GELU than the published one, or an inner width of the MLP that is not 4 times the model's. The
 * dropout of a configuration is ignored: it belongs to training, for which {@code training.dropout} sets it.
 */
public final class Gpt2Family implements ModelFamily {
    static final String TITLE = "GPT-2";
    private static final Set<String> TANH_GELU = Set.of("gelu_new", "gelu_pytorch_tanh");
    private static final String PREFIX = "transformer.";
    private static final int PUBLISHED_VOCABULARY = 50257;
    private static final int PUBLISHED_END_OF_TEXT = 50256;

    @Override
    public String name() {
        return "gpt2";
    }

    @Override
    public String title() {
        return TITLE;
    }

    @Override
    public List<String> keysWithoutEffect() {
        return List.of("resid_pdrop", "embd_pdrop", "attn_pdrop", "reorder_and_upcast_attn", "summary_type",
                "summary_use_proj", "summary_activation", "summary_proj_to_labels", "summary_first_dropout");
    }

    @Override
    public boolean separatesDocuments() {
        return false;
    }

    @Override
    public ModelSpec read(Section section) {
        return Gpt2.of(section).spec();
    }

    @Override
    public ModelSpec adapted(ModelSpec model, Lora lora) {
        return Gpt2.of(model.section()).with(lora.among(Gpt2Layers.MATRICES, Gpt2Layers.USUALLY_ADAPTED, TITLE)).spec();
    }

    @Override
    public ModelSpec readPublished(PublishedConfig config) {
        config.requireOneOf("activation_function", TANH_GELU, "gelu_new");
        config.requireFlag("scale_attn_weights", true);
        config.requireFlag("scale_attn_by_inverse_layer_idx", false);
        config.requireFlag("add_cross_attention", false);
        int layers = config.positive("n_layer");
        int hidden = config.positive("n_embd");
        int heads = config.positive("n_head");
        int vocabularySize = config.positive("vocab_size");
        if (hidden % heads != 0) {
            throw config.refusal("n_embd must be divisible by n_head, but found " + hidden + " and " + heads);
        }
        if (hidden > Gpt2.MOST_HIDDEN) {
            throw config.refusal("n_embd", "at most " + Gpt2.MOST_HIDDEN);
        }
        JsonNode inner = config.value("n_inner");
        if (!inner.isMissingNode() && !inner.isNull() && inner.asLong(-1) != 4L * hidden) {
            throw config.refusal("n_inner", "null or 4 x n_embd = " + 4L * hidden);
        }
        boolean tied = config.flag("tie_word_embeddings", true);
        return new Gpt2(layers, hidden, heads, positions(config), vocabularySize, tied,
                config.aboveZero("layer_norm_epsilon", Gpt2.NORM_EPSILON)).spec();
    }

    private static int positions(PublishedConfig config) {
        if (!config.has("n_positions") && config.has("n_ctx")) {
            return config.positive("n_ctx");
        }
        int positions = config.positive("n_positions");
        if (config.has("n_ctx") && config.positive("n_ctx") != positions) {
            throw config.refusal("n_ctx", "n_positions = " + positions);
        }
        return positions;
    }

    @Override
    public void writePublished(ModelSpec model, ObjectNode config) {
        Gpt2 gpt2 = Gpt2.of(model.section());
        config.putArray("architectures").add("GPT2LMHeadModel");
        config.put("n_layer", gpt2.layers());
        config.put("n_embd", gpt2.hidden());
        config.put("n_head", gpt2.heads());
        config.put("n_positions", gpt2.sequenceLength());
        config.put("n_ctx", gpt2.sequenceLength());
        config.putNull("n_inner");
        config.put("vocab_size", gpt2.vocabularySize());
        config.put("layer_norm_epsilon", gpt2.normEpsilon());
        config.put("activation_function", "gelu_new");
        config.put("tie_word_embeddings", gpt2.tiedEmbeddings());
        config.put("resid_pdrop", 0.0);
        config.put("embd_pdrop", 0.0);
        config.put("attn_pdrop", 0.0);
        config.put("initializer_range", Gpt2Layers.DEVIATION);
        // If they were absent, transformers would take 50256 for both, which a smaller vocabulary lacks.
        if (gpt2.vocabularySize() < PUBLISHED_VOCABULARY) {
            config.putNull("bos_token_id");
            config.putNull("eos_token_id");
        } else {
            config.put("bos_token_id", PUBLISHED_END_OF_TEXT);
            config.put("eos_token_id", PUBLISHED_END_OF_TEXT);
        }
    }

    /** Matrices are published as they are here, [in x out], with or without the prefix. */
    @Override
    public List<String> publishedNames(String parameter) {
        return List.of(parameter, PREFIX + parameter);
    }

    /** Returns the names for the model with its head, which have the prefix, and for the model alone; PEFT wraps either. */
    @Override
    public List<String> adapterNames(String parameter) {
        return List.of(PREFIX + parameter, parameter);
    }

    @Override
    public boolean storesInputsFirst() {
        return true;
    }

    @Override
    public Optional<GgufModel> gguf(ModelSpec model) {
        return Optional.of(Gpt2Gguf.of(model, Gpt2.of(model.section())));
    }
}
