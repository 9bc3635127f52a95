package dev.troupe.model.rotary;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.engine.router.SoftmaxRouter;
import dev.troupe.model.GgufModel;
import dev.troupe.model.ModelFamily;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A family of Llama's kind: a subclass declares its differences, and unsupported arithmetic is refused by name. */
public abstract class RotaryFamily implements ModelFamily {
    private static final String PREFIX = "model.";
    protected static final String WINDOW = "sliding_window";
    /** {@link #attentionKeys} of a family that leaves these to a model. */
    protected static final Set<String> OF_EACH_MODEL = RotaryModel.ATTENTION_KEYS;
    private static final String POSITIONS = "max_position_embeddings";
    private static final String BIAS = "attention_bias";
    private static final String HEAD_NORMS = "use_qk_norm";

    /** Returns the class of transformers for which its models are published. */
    protected abstract String architecture();

    protected abstract boolean biasesQueriesKeysAndValues();

    protected abstract boolean normalizesHeads();

    /** Returns the keys of a section for biases, norms and positions of heads, if each model has its own; or none. */
    protected Set<String> attentionKeys() {
        return Set.of();
    }

    /** Returns the share of a head that turns if a configuration has none. */
    protected double defaultPart() {
        return 1;
    }

    /** Returns the number that norms add to a variance if a configuration has none. */
    protected double defaultNormEpsilon() {
        return RotaryModel.NORM_EPSILON;
    }

    /** Returns the size of a head if a configuration has none. */
    protected abstract int defaultHeadSize(PublishedConfig config, int hidden, int heads);

    /** Returns the size of a head if the heads divide the hidden size. */
    protected static int evenHeadSize(PublishedConfig config, int hidden, int heads) {
        if (hidden % heads != 0) {
            throw config.refusal(
                    "hidden_size must be divisible by num_attention_heads, but found " + hidden + " and " + heads);
        }
        return hidden / heads;
    }

    @Override
    public final List<String> keysWithoutEffect() {
        return List.of(WINDOW, "max_window_layers", "pretraining_tp", "is_llama_config", PublishedPositions.THETA,
                PublishedPositions.LENGTH);
    }

    @Override
    public final boolean separatesDocuments() {
        return true;
    }

    /** Returns the keys of a section for experts. */
    protected Set<String> expertKeys() {
        return Set.of();
    }

    /**
     * Returns the experts of a section; empty if the family has none.
     *
     * @param inner inner width of the model's MLPs
     */
    protected Optional<Experts> experts(Section section, int inner) {
        return Optional.empty();
    }

    /** Returns the experts of a {@code config.json}; empty if the family has none. */
    protected Optional<Experts> experts(PublishedConfig config) {
        return Optional.empty();
    }

    /** Returns the values of {@link #expertKeys}. */
    protected Map<String, Object> values(Experts experts) {
        throw withoutExperts();
    }

    /** Writes the keys of a {@code config.json} for experts. */
    protected void writePublished(Experts experts, ObjectNode config) {
        throw withoutExperts();
    }

    /** Returns the names of the tensors of a layer with experts. */
    protected ExpertNames expertNames() {
        throw withoutExperts();
    }

    private IllegalStateException withoutExperts() {
        return new IllegalStateException("models of the family " + name() + " have no experts");
    }

    /** Returns the matrices of a block that can have adapters: of a family with experts, only the matrices of attention. */
    private List<String> adaptable() {
        return expertKeys().isEmpty() ? RotaryLayers.MATRICES : RotaryLayers.ATTENTION_MATRICES;
    }

    @Override
    public final ModelSpec read(Section section) {
        return RotaryModel.of(section, this).spec(this);
    }

    @Override
    public final ModelSpec adapted(ModelSpec model, Lora lora) {
        return RotaryModel.of(model.section(), this)
                .with(lora.among(adaptable(), RotaryLayers.USUALLY_ADAPTED, title())).spec(this);
    }

    @Override
    public final ModelSpec readPublished(PublishedConfig config) {
        config.requireOneOf("hidden_act", Set.of("silu", "swish"), "silu");
        boolean isOfModel = !attentionKeys().isEmpty();
        for (String flag : List.of("mlp_bias", "use_sliding_window")) {
            config.requireFlag(flag, false);
        }
        if (!isOfModel) {
            config.requireFlag(BIAS, false);
        }
        requireFullAttention(config);
        if (config.isGiven("quantization_config")) {
            throw config.refusal("quantization_config", "absent, as quantized weights are not trained here");
        }
        int hidden = config.positive("hidden_size");
        int heads = config.positive("num_attention_heads");
        int headSize = config.isGiven("head_dim")
                ? config.positive("head_dim")
                : defaultHeadSize(config, hidden, heads);
        try {
            RotaryModel.Attention attention = new RotaryModel.Attention(heads,
                    config.isGiven("num_key_value_heads") ? config.positive("num_key_value_heads") : heads,
                    isOfModel ? config.flag(BIAS, false) : biasesQueriesKeysAndValues(),
                    isOfModel ? config.flag(HEAD_NORMS, false) : normalizesHeads(),
                    PublishedPositions.read(config, headSize, defaultPart(), isOfModel));
            return new RotaryModel(config.positive("num_hidden_layers"), hidden, attention,
                    new RotaryModel.Mlp(config.positive("intermediate_size"), experts(config)), positions(config),
                    config.positive("vocab_size"), config.flag("tie_word_embeddings", false),
                    config.aboveZero("rms_norm_eps", defaultNormEpsilon()), Optional.empty()).spec(this);
        } catch (IllegalArgumentException refused) {
            throw config.refusal(refused.getMessage());
        }
    }

    private void requireFullAttention(PublishedConfig config) {
        if (hasWindow(config)) {
            throw config.refusal(WINDOW, "null, as attention over a window is not computed here");
        }
        for (JsonNode type : config.value("layer_types")) {
            if (!type.asText().equals("full_attention")) {
                throw config.refusal("layer_types", "full_attention in every layer, as nothing else is computed here");
            }
        }
    }

    /** Returns whether attention is over a window; {@code use_sliding_window} was found to be false or absent. */
    protected boolean hasWindow(PublishedConfig config) {
        return false;
    }

    private int positions(PublishedConfig config) {
        return config.isGiven(POSITIONS) ? config.positive(POSITIONS) : defaultPositions(config);
    }

    /** Returns the longest sequence if a configuration has none, as in transformers. */
    protected abstract int defaultPositions(PublishedConfig config);

    @Override
    public final void writePublished(ModelSpec spec, ObjectNode config) {
        RotaryModel model = RotaryModel.of(spec.section(), this);
        config.putArray("architectures").add(architecture());
        config.put("num_hidden_layers", model.layers());
        config.put("hidden_size", model.hidden());
        config.put("num_attention_heads", model.heads());
        config.put("num_key_value_heads", model.keyValueHeads());
        config.put("head_dim", model.headSize());
        config.put("intermediate_size", model.mlp().inner());
        model.mlp().experts().ifPresent(experts -> writePublished(experts, config));
        config.put(POSITIONS, model.sequenceLength());
        config.put("vocab_size", model.vocabularySize());
        config.put("rms_norm_eps", model.normEpsilon());
        config.put("hidden_act", "silu");
        config.put("attention_dropout", 0.0);
        config.put("tie_word_embeddings", model.tiedEmbeddings());
        config.put("initializer_range", RotaryLayers.DEVIATION);
        if (!attentionKeys().isEmpty()) {
            config.put(BIAS, model.attention().isBiased());
            config.put(HEAD_NORMS, model.attention().normalizesHeads());
        }
        PublishedPositions.write(model.frequencies(), config);
        // If absent, transformers would take the ids of the published vocabularies.
        config.putNull("bos_token_id");
        config.putNull("eos_token_id");
    }

    /** The names of Meta's release of Llama, and of torchtitan. */
    @Override
    public final Map<String, String> modulesInPyTorch() {
        return Map.ofEntries(Map.entry("tok_embeddings", "model.embed_tokens"),
                Map.entry("attention_norm", "input_layernorm"), Map.entry("attention", "self_attn"),
                Map.entry("attention.wq", "self_attn.q_proj"), Map.entry("attention.wk", "self_attn.k_proj"),
                Map.entry("attention.wv", "self_attn.v_proj"), Map.entry("attention.wo", "self_attn.o_proj"),
                Map.entry("ffn_norm", "post_attention_layernorm"), Map.entry("feed_forward", "mlp"),
                Map.entry("feed_forward.w1", "mlp.gate_proj"), Map.entry("feed_forward.w2", "mlp.down_proj"),
                Map.entry("feed_forward.w3", "mlp.up_proj"), Map.entry("norm", "model.norm"),
                Map.entry("output", "lm_head"));
    }

    /** Published with the prefix, or in some files without it. */
    @Override
    public final List<String> publishedNames(String parameter) {
        return parameter.startsWith(PREFIX)
                ? List.of(parameter, parameter.substring(PREFIX.length()))
                : List.of(parameter);
    }

    /**
     * Returns whether llama.cpp rotates neighbouring numbers of a head, as Llama's first release did; if not, as published.
     */
    protected boolean turnsNeighboursInGguf() {
        return false;
    }

    /** Returns llama.cpp's name of the family. */
    protected String ggufArchitecture() {
        return name();
    }

    /** Returns llama.cpp's name of the norm before the second half of a block. */
    protected String ggufSecondNorm() {
        return "ffn_norm";
    }

    /** Returns llama.cpp's further settings of experts. */
    protected Map<String, Object> ggufSettings(Experts experts) {
        return Map.of();
    }

    /**
     * Returns the property that llama.cpp needs, and a model lacks; empty if it computes the model.
     *
     * @param biased whether queries, keys and values have a bias
     */
    protected Optional<String> ggufRefusal(boolean biased, Experts experts, int layers) {
        return experts.router().equals(new SoftmaxRouter(true)) && experts.blocksOf(layers) == layers
                ? Optional.empty()
                : Optional.of("experts in every block, and weights of experts that are divided by their sum");
    }

    @Override
    public final Optional<GgufModel> gguf(ModelSpec spec) {
        return Optional.of(new RotaryGguf(RotaryModel.of(spec.section(), this), this).of(spec));
    }
}
