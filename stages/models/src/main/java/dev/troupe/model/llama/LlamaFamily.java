package dev.troupe.model.llama;

import dev.troupe.model.PublishedConfig;
import dev.troupe.model.rotary.RotaryFamily;

/**
 * Llama 2 and 3 (Touvron et al. 2023, Grattafiori et al. 2024), and other models of their form: SmolLM2, TinyLlama, and
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

    /** Mistral has no flag for its window, and one of 4096 tokens if its configuration has no such key. */
    @Override
    protected boolean hasWindow(PublishedConfig config) {
        return isMistral(config)
                ? !config.value(WINDOW).isNull()
                : config.isGiven(WINDOW) && !config.has("use_sliding_window");
    }

    private static boolean isMistral(PublishedConfig config) {
        return config.value("model_type").asText().equals(MISTRAL);
    }

    @Override
    protected int defaultPositions(PublishedConfig config) {
        return isMistral(config) ? 131_072 : 2048;
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
