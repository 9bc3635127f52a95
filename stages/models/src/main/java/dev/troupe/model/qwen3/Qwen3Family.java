package dev.troupe.model.qwen3;

import dev.troupe.model.PublishedConfig;
import dev.troupe.model.rotary.RotaryFamily;

/**
 * Qwen 3 (Yang et al. 2025): Llama with a norm for each head of the queries and of the keys, and a size of heads of its own.
 */
public final class Qwen3Family extends RotaryFamily {
    @Override
    public String name() {
        return "qwen3";
    }

    @Override
    public String title() {
        return "Qwen3";
    }

    @Override
    protected String architecture() {
        return "Qwen3ForCausalLM";
    }

    @Override
    protected boolean biasesQueriesKeysAndValues() {
        return false;
    }

    @Override
    protected boolean normalizesHeads() {
        return true;
    }

    @Override
    protected int defaultPositions(PublishedConfig config) {
        return 32_768;
    }

    @Override
    protected int defaultHeadSize(PublishedConfig config, int hidden, int heads) {
        return 128;
    }
}
