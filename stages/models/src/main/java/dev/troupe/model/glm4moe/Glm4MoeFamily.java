package dev.troupe.model.glm4moe;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.engine.router.SigmoidRouter;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.rotary.ExpertFamily;
import dev.troupe.model.rotary.ExpertNames;
import dev.troupe.model.rotary.Experts;
import dev.troupe.model.spec.ExpertTraining;
import dev.troupe.model.spec.Section;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * GLM-4.5 (GLM-4.5 Team 2025): grouped attention that rotates a part of each head, some dense blocks, then blocks with the
 * router and the shared experts of DeepSeek-V3.
 */
public final class Glm4MoeFamily extends ExpertFamily {
    private static final String INNER = "expert-inner";
    private static final String SHARED = "shared-experts";
    private static final String FIRST_DENSE = "first-dense-blocks";
    private static final String GROUPS = "expert-groups";
    private static final String KEPT_GROUPS = "expert-groups-per-token";
    private static final String FACTOR = "routed-scaling-factor";
    private static final String NORMALIZED = "normalize-weights";
    private static final String PUBLISHED_COUNT = "n_routed_experts";
    private static final String PUBLISHED_INNER = "moe_intermediate_size";
    private static final String PUBLISHED_SHARED = "n_shared_experts";
    private static final String PUBLISHED_FIRST_DENSE = "first_k_dense_replace";
    private static final String PUBLISHED_GROUPS = "n_group";
    private static final String PUBLISHED_KEPT_GROUPS = "topk_group";
    private static final String PUBLISHED_FACTOR = "routed_scaling_factor";
    private static final String PUBLISHED_NORMALIZED = "norm_topk_prob";
    /** As in transformers. */
    private static final int USUAL_FIRST_DENSE = 1;
    /** llama.cpp's number of the sigmoid. */
    private static final int GGUF_SIGMOID = 2;

    @Override
    public String name() {
        return "glm4_moe";
    }

    @Override
    public String title() {
        return "GLM-4.5";
    }

    @Override
    protected String architecture() {
        return "Glm4MoeForCausalLM";
    }

    /** Of a new model; a checkpoint may have none. */
    @Override
    protected boolean biasesQueriesKeysAndValues() {
        return true;
    }

    /** Of a new model; a checkpoint may have none. */
    @Override
    protected boolean normalizesHeads() {
        return true;
    }

    @Override
    protected Set<String> attentionKeys() {
        return OF_EACH_MODEL;
    }

    @Override
    protected double defaultPart() {
        return 0.5;
    }

    @Override
    protected double defaultNormEpsilon() {
        return 1e-5;
    }

    @Override
    protected int defaultPositions(PublishedConfig config) {
        return 131_072;
    }

    @Override
    protected boolean hasAuxiliaryLoss() {
        return false;
    }

    @Override
    protected String ggufArchitecture() {
        return "glm4moe";
    }

    @Override
    protected String ggufSecondNorm() {
        return "post_attention_norm";
    }

    @Override
    protected Map<String, Object> ggufSettings(Experts experts) {
        SigmoidRouter router = (SigmoidRouter) experts.router();
        return Map.of("expert_shared_count", experts.sharedInner() / experts.inner(), "leading_dense_block_count",
                experts.denseBlocks().size(), "expert_gating_func", GGUF_SIGMOID, "expert_weights_scale",
                router.factor(), "expert_weights_norm", router.normalized());
    }

    @Override
    protected Optional<String> ggufRefusal(boolean biased, Experts experts, int layers) {
        return biased && ((SigmoidRouter) experts.router()).groups() == 1
                ? Optional.empty()
                : Optional.of("one group of experts, and biases of queries, keys and values");
    }

    @Override
    protected ExpertNames expertNames() {
        return ExpertNames.OF_MLP;
    }

    @Override
    protected Set<String> ownExpertKeys() {
        return Set.of(INNER, SHARED, FIRST_DENSE, GROUPS, KEPT_GROUPS, FACTOR, NORMALIZED);
    }

    @Override
    protected Experts read(Section section, int count, int perToken, ExpertTraining training, int inner) {
        return experts(count, perToken, section.has(INNER) ? section.positive(INNER) : inner,
                section.has(SHARED) ? section.notNegative(SHARED) : 1,
                section.has(FIRST_DENSE) ? section.notNegative(FIRST_DENSE) : USUAL_FIRST_DENSE,
                new SigmoidRouter(!section.has(NORMALIZED) || section.flag(NORMALIZED),
                        section.has(GROUPS) ? section.positive(GROUPS) : 1,
                        section.has(KEPT_GROUPS) ? section.positive(KEPT_GROUPS) : 1, section.number(FACTOR, 1)),
                training);
    }

    private static Experts experts(int count, int perToken, int inner, int shared, int firstDense,
            SigmoidRouter router, ExpertTraining training) {
        if ((long) shared * inner > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(shared + " shared experts (model.shared-experts) of a width of " + inner
                    + " (model.expert-inner) are wider than any tensor: lower one of them");
        }
        return new Experts(count, perToken, inner, shared * inner, router, 1,
                IntStream.range(0, Math.min(firstDense, ModelSpec.MOST_BLOCKS)).boxed().toList(), training);
    }

    @Override
    protected Map<String, Object> ownValues(Experts experts) {
        SigmoidRouter router = (SigmoidRouter) experts.router();
        return Map.of(INNER, experts.inner(), SHARED, experts.sharedInner() / experts.inner(), FIRST_DENSE,
                experts.denseBlocks().size(), GROUPS, router.groups(), KEPT_GROUPS, router.keptGroups(), FACTOR,
                router.factor(), NORMALIZED, router.normalized());
    }

    @Override
    protected Experts readPublished(PublishedConfig config, int perToken, ExpertTraining training) {
        return experts(config.positive(PUBLISHED_COUNT), perToken, config.positive(PUBLISHED_INNER),
                config.notNegative(PUBLISHED_SHARED, 1), config.notNegative(PUBLISHED_FIRST_DENSE, USUAL_FIRST_DENSE),
                new SigmoidRouter(config.flag(PUBLISHED_NORMALIZED, true),
                        config.isGiven(PUBLISHED_GROUPS) ? config.positive(PUBLISHED_GROUPS) : 1,
                        config.isGiven(PUBLISHED_KEPT_GROUPS) ? config.positive(PUBLISHED_KEPT_GROUPS) : 1,
                        config.aboveZero(PUBLISHED_FACTOR, 1)),
                training);
    }

    @Override
    protected void writeOwn(Experts experts, ObjectNode config) {
        SigmoidRouter router = (SigmoidRouter) experts.router();
        config.put(PUBLISHED_COUNT, experts.count());
        config.put(PUBLISHED_INNER, experts.inner());
        config.put(PUBLISHED_SHARED, experts.sharedInner() / experts.inner());
        config.put(PUBLISHED_FIRST_DENSE, experts.denseBlocks().size());
        config.put(PUBLISHED_GROUPS, router.groups());
        config.put(PUBLISHED_KEPT_GROUPS, router.keptGroups());
        config.put(PUBLISHED_FACTOR, router.factor());
        config.put(PUBLISHED_NORMALIZED, router.normalized());
    }
}
