package dev.troupe.model.gpt2;

import dev.troupe.model.GgufModel;
import dev.troupe.model.GgufTensor;
import dev.troupe.model.GgufTensor.Order;
import dev.troupe.model.ModelSpec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** A GPT-2 model under llama.cpp's names. It stores matrices [out x in], so the matrices of the blocks are transposed. */
final class Gpt2Gguf {
    private static final Map<String, String> NAMES = Map.ofEntries(Map.entry("wte", "token_embd"),
            Map.entry("wpe", "position_embd"), Map.entry("ln_f", "output_norm"), Map.entry("lm_head", "output"),
            Map.entry("ln_1", "attn_norm"), Map.entry("attn.c_attn", "attn_qkv"),
            Map.entry("attn.c_proj", "attn_output"), Map.entry("ln_2", "ffn_norm"), Map.entry("mlp.c_fc", "ffn_up"),
            Map.entry("mlp.c_proj", "ffn_down"));

    private Gpt2Gguf() {
    }

    static GgufModel of(ModelSpec spec, Gpt2 model) {
        SequencedMap<String, Object> settings = new LinkedHashMap<>();
        settings.put("context_length", model.sequenceLength());
        settings.put("embedding_length", model.hidden());
        settings.put("block_count", model.layers());
        settings.put("feed_forward_length", model.inner());
        settings.put("attention.head_count", model.heads());
        settings.put("attention.layer_norm_epsilon", model.normEpsilon());
        List<GgufTensor> tensors = new ArrayList<>(
                spec.parameters().keySet().stream().map(Gpt2Gguf::tensor).toList());
        if (model.tiedEmbeddings()) {
            // Older releases of llama.cpp do not use the token table for the head's matrix.
            tensors.add(new GgufTensor.OfParameter(NAMES.get("lm_head") + ".weight", "wte.weight", new Order.Same(),
                    false));
        }
        return new GgufModel(spec.family().name(), settings, tensors);
    }

    /** Returns the tensor of {@code h.N.PART.weight}, or of {@code PART.weight} outside the blocks. */
    private static GgufTensor tensor(String parameter) {
        List<String> words = List.of(parameter.split("\\."));
        boolean isInBlock = words.getFirst().equals("h");
        String part = String.join(".", words.subList(isInBlock ? 2 : 0, words.size() - 1));
        boolean isMatrix = isInBlock && part.contains(".") && words.getLast().equals("weight");
        return new GgufTensor.OfParameter(
                (isInBlock ? "blk." + words.get(1) + "." : "") + NAMES.get(part) + "." + words.getLast(), parameter,
                isMatrix ? new Order.Transposed() : new Order.Same(), part.equals("wpe"));
    }
}
