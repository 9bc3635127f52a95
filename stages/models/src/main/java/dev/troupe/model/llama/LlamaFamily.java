package dev.troupe.model.llama;

import dev.troupe.model.PublishedConfig;
import dev.troupe.model.rotary.RotaryFamily;

/**
 * Llama 2 and 3 (Touvron et al. 2023, Grattafiori et al. 2024), and what is published in their form: SmolLM2, TinyLlama, and
 * Mistral without a sliding window.
 */
public final class LlamaFamily extends RotaryFamily {
    private static final String MISTRAL = "mistral";

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
        return modelType.equals("llama") || modelType.equals(MISTRAL);
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

    /** Mistral has no flag for its window, and one of 4096 tokens where its configuration has no such key. */
    @Override
    protected boolean hasWindow(PublishedConfig config) {
        return config.value("model_type").asText().equals(MISTRAL)
                ? !config.value("sliding_window").isNull()
                : super.hasWindow(config);
    }

    @Override
    protected int defaultHeadSize(PublishedConfig config, int hidden, int heads) {
        return evenHeadSize(config, hidden, heads);
    }

    @Override
    protected boolean turnsNeighboursInGguf() {
        return true;
    }
}
