package dev.troupe.model.rotary;

import dev.troupe.layer.rotary.Frequencies;
import dev.troupe.model.GgufModel;
import dev.troupe.model.GgufTensor;
import dev.troupe.model.GgufTensor.Order;
import dev.troupe.model.ModelSpec;
import dev.troupe.weights.WeightException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/** A model of Llama's kind under llama.cpp's names. */
final class RotaryGguf {
    private static final Map<String, String> NAMES = Map.ofEntries(Map.entry("model.embed_tokens", "token_embd"),
            Map.entry("model.norm", "output_norm"), Map.entry("lm_head", "output"),
            Map.entry("input_layernorm", "attn_norm"), Map.entry("self_attn.q_proj", "attn_q"),
            Map.entry("self_attn.k_proj", "attn_k"), Map.entry("self_attn.v_proj", "attn_v"),
            Map.entry("self_attn.o_proj", "attn_output"), Map.entry("self_attn.q_norm", "attn_q_norm"),
            Map.entry("self_attn.k_norm", "attn_k_norm"), Map.entry("post_attention_layernorm", "ffn_norm"),
            Map.entry("mlp.gate_proj", "ffn_gate"), Map.entry("mlp.up_proj", "ffn_up"),
            Map.entry("mlp.down_proj", "ffn_down"));
    private static final String IN_BLOCK = "model.layers.";

    private final RotaryModel model;
    private final boolean turnsNeighbours;

    /**
     * @param turnsNeighbours whether llama.cpp turns neighbouring numbers of a head, by frequencies that the file may change
     */
    RotaryGguf(RotaryModel model, boolean turnsNeighbours) {
        this.model = model;
        this.turnsNeighbours = turnsNeighbours;
    }

    GgufModel of(ModelSpec spec) {
        if (model.mlp().experts().isPresent()) {
            throw new WeightException(
                    "a " + spec.family().title() + " model cannot be written as GGUF, since its experts"
                            + " would have to be stacked there, which is not implemented: take --format huggingface");
        }
        SequencedMap<String, Number> settings = new LinkedHashMap<>();
        settings.put("context_length", model.sequenceLength());
        settings.put("embedding_length", model.hidden());
        settings.put("block_count", model.layers());
        settings.put("feed_forward_length", model.mlp().inner());
        settings.put("attention.head_count", model.heads());
        settings.put("attention.head_count_kv", model.keyValueHeads());
        settings.put("attention.layer_norm_rms_epsilon", model.normEpsilon());
        settings.put("attention.key_length", model.headSize());
        settings.put("attention.value_length", model.headSize());
        settings.put("rope.freq_base", model.frequencies().base());
        settings.put("rope.dimension_count", model.headSize());
        settings.put("vocab_size", model.vocabularySize());
        List<GgufTensor> tensors = new ArrayList<>();
        if (model.frequencies().scaling().isPresent()) {
            if (!turnsNeighbours) {
                throw new WeightException("a " + spec.family().title() + " model with scaled rotary positions cannot be"
                        + " written as GGUF, since llama.cpp reads the scaling of Llama models alone: take --format"
                        + " huggingface");
            }
            tensors.add(new GgufTensor.Constant("rope_freqs.weight", factors()));
        }
        spec.parameters().keySet().forEach(parameter -> tensors.add(tensor(parameter)));
        return new GgufModel(spec.family().name(), settings, tensors);
    }

    /** Returns the divisor of each frequency without scaling. */
    private List<Float> factors() {
        double[] scaled = model.frequencies().perPlace();
        double[] plain = new Frequencies(model.headSize(), model.frequencies().base(), Optional.empty()).perPlace();
        List<Float> factors = new ArrayList<>();
        for (int i = 0; i < plain.length; i++) {
            factors.add((float) (plain[i] / scaled[i]));
        }
        return factors;
    }

    /** Returns the tensor of {@code model.layers.N.PART.weight}, or of {@code PART.weight} outside the blocks. */
    private GgufTensor tensor(String parameter) {
        int last = parameter.lastIndexOf('.');
        String kind = parameter.substring(last);
        if (!parameter.startsWith(IN_BLOCK)) {
            return named(NAMES.get(parameter.substring(0, last)) + kind, parameter, new Order.Same());
        }
        int end = parameter.indexOf('.', IN_BLOCK.length());
        String part = NAMES.get(parameter.substring(end + 1, last));
        return named("blk" + parameter.substring(IN_BLOCK.length() - 1, end) + "." + part + kind, parameter,
                switch (part) {
                    case "attn_q" -> order(model.heads());
                    case "attn_k" -> order(model.keyValueHeads());
                    default -> new Order.Same();
                });
    }

    private Order order(int heads) {
        return turnsNeighbours ? new Order.NeighbouringPairs(heads) : new Order.Same();
    }

    private static GgufTensor named(String name, String parameter, Order order) {
        return new GgufTensor.OfParameter(name, parameter, order, false);
    }
}
