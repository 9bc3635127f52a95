package dev.troupe.model.qwen2;

import dev.troupe.model.PublishedConfig;
import dev.troupe.model.rotary.RotaryFamily;

/** Qwen 2 and 2.5 (Yang et al. 2024): Llama with biases on queries, keys and values. */
public final class Qwen2Family extends RotaryFamily {
    @Override
    public String name() {
        return "qwen2";
    }

    @Override
    public String title() {
        return "Qwen2";
    }

    @Override
    protected String architecture() {
        return "Qwen2ForCausalLM";
    }

    @Override
    protected boolean biasesQueriesKeysAndValues() {
        return true;
    }

    @Override
    protected boolean normalizesHeads() {
        return false;
    }

    @Override
    protected int defaultPositions(PublishedConfig config) {
        return 32_768;
    }

    @Override
    protected int defaultHeadSize(PublishedConfig config, int hidden, int heads) {
        return evenHeadSize(config, hidden, heads);
    }
}
