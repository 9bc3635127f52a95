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
import java.util.stream.IntStream;

/** A model of Llama's kind under llama.cpp's names. */
final class RotaryGguf {
    private static final Map<String, String> NAMES = Map.ofEntries(Map.entry("model.embed_tokens", "token_embd"),
            Map.entry("model.norm", "output_norm"), Map.entry("lm_head", "output"),
            Map.entry("input_layernorm", "attn_norm"), Map.entry("self_attn.q_proj", "attn_q"),
            Map.entry("self_attn.k_proj", "attn_k"), Map.entry("self_attn.v_proj", "attn_v"),
            Map.entry("self_attn.o_proj", "attn_output"), Map.entry("self_attn.q_norm", "attn_q_norm"),
            Map.entry("self_attn.k_norm", "attn_k_norm"),
            Map.entry("mlp.gate_proj", "ffn_gate"), Map.entry("mlp.up_proj", "ffn_up"),
            Map.entry("mlp.down_proj", "ffn_down"));
    private static final String IN_BLOCK = "model.layers.";
    private static final String SECOND_NORM = "post_attention_layernorm";

    private final RotaryModel model;
    private final RotaryFamily family;
    /** Whether llama.cpp turns neighbouring numbers of a head, by frequencies that the file may change. */
    private final boolean turnsNeighbours;

    RotaryGguf(RotaryModel model, RotaryFamily family) {
        this.model = model;
        this.family = family;
        this.turnsNeighbours = family.turnsNeighboursInGguf();
    }

    GgufModel of(ModelSpec spec) {
        model.mlp().experts().ifPresent(this::requireComputed);
        SequencedMap<String, Object> settings = new LinkedHashMap<>();
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
        settings.put("rope.dimension_count", model.frequencies().turned());
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
        model.mlp().experts().ifPresent(experts -> {
            settings.put("expert_count", experts.count());
            settings.put("expert_used_count", experts.perToken());
            settings.put("expert_feed_forward_length", experts.inner());
            settings.putAll(family.ggufSettings(experts));
        });
        spec.parameters().keySet().stream().filter(parameter -> !isOfExperts(parameter)).map(this::tensor)
                .forEach(tensors::add);
        model.mlp().experts().ifPresent(experts -> addExperts(experts, tensors));
        return new GgufModel(family.ggufArchitecture(), settings, tensors);
    }

    /** Refuses experts that llama.cpp computes otherwise. */
    private void requireComputed(Experts experts) {
        family.ggufRefusal(model.attention().isBiased(), experts, model.layers()).ifPresent(needed -> {
            throw new WeightException("a " + family.title() + " model can be written as GGUF only with " + needed
                    + ", since llama.cpp computes nothing else: take --format huggingface");
        });
    }

    private boolean isOfExperts(String parameter) {
        return model.mlp().experts().isPresent() && parameter.startsWith(IN_BLOCK)
                && parameter.contains("." + family.expertNames().inside())
                && model.mlp().experts().get().areIn(Integer.parseInt(
                        parameter.substring(IN_BLOCK.length(), parameter.indexOf('.', IN_BLOCK.length()))));
    }

    /** The router in float32, and the matrices of all experts of a block stacked. */
    private void addExperts(Experts experts, List<GgufTensor> tensors) {
        ExpertNames names = family.expertNames();
        for (int block = 0; block < model.layers(); block++) {
            if (!experts.areIn(block)) {
                continue;
            }
            String stored = "blk." + block + ".";
            String inside = IN_BLOCK + block + "." + names.inside();
            tensors.add(new GgufTensor.OfParameter(stored + "ffn_gate_inp.weight", inside + "gate.weight",
                    new Order.Same(), true));
            if (experts.router().choosesByBias()) {
                tensors.add(named(stored + "exp_probs_b.bias", inside + RotaryLayers.CHOICE_BIAS, new Order.Same()));
            }
            if (experts.sharedInner() > 0) {
                for (String part : List.of("gate", "up", "down")) {
                    tensors.add(named(stored + "ffn_" + part + "_shexp.weight",
                            inside + "shared_experts." + part + "_proj.weight", new Order.Same()));
                }
            }
            tensors.add(stacked(stored + "ffn_gate_exps.weight", inside, names.gate(), experts.count()));
            tensors.add(stacked(stored + "ffn_up_exps.weight", inside, names.up(), experts.count()));
            tensors.add(stacked(stored + "ffn_down_exps.weight", inside, names.down(), experts.count()));
        }
    }

    private static GgufTensor stacked(String name, String inside, String matrix, int count) {
        return new GgufTensor.Stacked(name, IntStream.range(0, count)
                .mapToObj(expert -> inside + "experts." + expert + "." + matrix + ".weight").toList());
    }

    /** Returns the divisor of each frequency without scaling. */
    private List<Float> factors() {
        double[] scaled = model.frequencies().perPlace();
        double[] plain = new Frequencies(model.headSize(), model.frequencies().turned(),
                model.frequencies().base(), Optional.empty()).perPlace();
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
        String published = parameter.substring(end + 1, last);
        String part = published.equals(SECOND_NORM) ? family.ggufSecondNorm() : NAMES.get(published);
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
