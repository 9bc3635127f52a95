package dev.troupe.model.mixtral;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.engine.router.SoftmaxRouter;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.rotary.ExpertFamily;
import dev.troupe.model.rotary.ExpertNames;
import dev.troupe.model.rotary.Experts;
import dev.troupe.model.spec.ExpertTraining;
import dev.troupe.model.spec.Section;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Mixtral (Jiang et al. 2024): Llama with experts in place of every MLP, and weights that are divided by their sum. */
public final class MixtralFamily extends ExpertFamily {
    @Override
    public String name() {
        return "mixtral";
    }

    @Override
    public String title() {
        return "Mixtral";
    }

    @Override
    protected String architecture() {
        return "MixtralForCausalLM";
    }

    @Override
    protected boolean normalizesHeads() {
        return false;
    }

    @Override
    protected boolean hasWindow(PublishedConfig config) {
        return config.isGiven(WINDOW);
    }

    @Override
    protected int defaultPositions(PublishedConfig config) {
        return 131_072;
    }

    /** For llama.cpp it is a Llama. */
    @Override
    protected String ggufArchitecture() {
        return "llama";
    }

    @Override
    protected boolean turnsNeighboursInGguf() {
        return true;
    }

    @Override
    protected ExpertNames expertNames() {
        return new ExpertNames("block_sparse_moe.", "w1", "w3", "w2");
    }

    @Override
    protected Set<String> ownExpertKeys() {
        return Set.of();
    }

    @Override
    protected Experts read(Section section, int count, int perToken, ExpertTraining training, int inner) {
        return new Experts(count, perToken, inner, 0, new SoftmaxRouter(true), 1, List.of(), training);
    }

    @Override
    protected Map<String, Object> ownValues(Experts experts) {
        return Map.of();
    }

    @Override
    protected Experts readPublished(PublishedConfig config, int perToken, ExpertTraining training) {
        if (config.isGiven("router_jitter_noise") && config.value("router_jitter_noise").doubleValue() != 0) {
            throw config.refusal("router_jitter_noise", "0, as routers have no noise here");
        }
        return new Experts(config.positive(LOCAL_EXPERTS), perToken, config.positive("intermediate_size"), 0,
                new SoftmaxRouter(true), 1, List.of(), training);
    }

    @Override
    protected void writeOwn(Experts experts, ObjectNode config) {
        config.put(LOCAL_EXPERTS, experts.count());
        config.put("router_jitter_noise", 0.0);
    }
}
