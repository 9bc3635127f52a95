package dev.troupe.model.llama;

import dev.troupe.model.PublishedConfig;
import dev.troupe.model.rotary.RotaryFamily;

/**
 * Llama 2 and 3 (Touvron et al. 2023, Grattafiori et al. 2024), and what is published in their form: SmolLM2, TinyLlama, and
 * Mistral without a sliding window.
 */
public final class LlamaFamily extends RotaryFamily {
    @Override
    public String name() {
        return "llama";
    }

    @Override
    public String title() {
        return "Llama";
    }

    @Override
    public boolean isPublishedAs(String modelType) {
        return modelType.equals("llama") || modelType.equals("mistral");
    }

    @Override
    protected String architecture() {
        return "LlamaForCausalLM";
    }

    @Override
    protected boolean biasesQueriesKeysAndValues() {
        return false;
    }

    @Override
    protected boolean normalizesHeads() {
        return false;
    }

    @Override
    protected int defaultHeadSize(PublishedConfig config, int hidden, int heads) {
        return evenHeadSize(config, hidden, heads);
    }
}
