package dev.troupe.weights.huggingface;

import dev.troupe.model.ModelFamily;
import dev.troupe.model.PublishedConfig;
import java.util.List;
import java.util.Set;

/**
 * The unknown keys of a {@code config.json}: no family reads them, and they may have an effect on the computation. The user
 * gets their names.
 */
final class UnknownKeys {
    /** Keys of transformers that every model may have, and keys of generation, which concern a text and not a forward. */
    private static final Set<String> WITHOUT_EFFECT = Set.of("transformers_version", "architectures", "dtype",
            "torch_dtype", "_name_or_path", "name_or_path", "use_cache", "bos_token_id", "eos_token_id", "pad_token_id",
            "unk_token_id", "sep_token_id", "cls_token_id", "mask_token_id", "decoder_start_token_id",
            "initializer_range", "attention_dropout", "hidden_dropout", "output_attentions", "output_hidden_states",
            "output_scores", "return_dict", "return_dict_in_generate", "id2label", "label2id", "num_labels",
            "problem_type", "finetuning_task", "task_specific_params", "torchscript", "use_bfloat16",
            "tf_legacy_loss", "tokenizer_class", "prefix", "attn_implementation", "_attn_implementation",
            "_attn_implementation_autoset", "_attn_implementation_internal", "gradient_checkpointing",
            "transformers.js_config", "unsloth_version", "unsloth_fixed", "chunk_size_feed_forward", "max_length",
            "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups", "diversity_penalty",
            "temperature", "top_k", "top_p", "typical_p", "repetition_penalty", "length_penalty",
            "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids", "num_return_sequences",
            "forced_bos_token_id", "forced_eos_token_id", "remove_invalid_values", "suppress_tokens",
            "begin_suppress_tokens", "exponential_decay_length_penalty", "is_decoder", "base_model_tp_plan");

    private UnknownKeys() {
    }

    /** Returns a sentence with their names, after the family has read the configuration; none if there are none. */
    static List<String> notes(PublishedConfig config, ModelFamily family) {
        List<String> unknown = config.unread().stream()
                .filter(key -> !WITHOUT_EFFECT.contains(key) && !family.keysWithoutEffect().contains(key)).toList();
        return unknown.isEmpty()
                ? List.of()
                : List.of(HuggingFaceModel.CONFIG + " has " + String.join(", ", unknown) + ", which a "
                        + family.title() + " model does not know: what they ask for is not computed");
    }
}
