package dev.troupe.model.qwen3moe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.engine.router.SoftmaxRouter;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.rotary.ExpertFamily;
import dev.troupe.model.rotary.ExpertNames;
import dev.troupe.model.rotary.Experts;
import dev.troupe.model.spec.ExpertTraining;
import dev.troupe.model.spec.Section;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Qwen 3 with experts (Yang et al. 2025) in every so many blocks; the other blocks have an MLP of another width. */
public final class Qwen3MoeFamily extends ExpertFamily {
    private static final String INNER = "expert-inner";
    private static final String NORMALIZED = "normalize-weights";
    private static final String EVERY = "expert-every";
    private static final String DENSE = "dense-blocks";
    /** The number of experts in the configurations on the Hub; transformers 5 writes {@link #LOCAL_EXPERTS}. */
    private static final String EXPERTS = "num_experts";
    private static final String PUBLISHED_INNER = "moe_intermediate_size";
    private static final String PUBLISHED_NORMALIZED = "norm_topk_prob";
    private static final String PUBLISHED_EVERY = "decoder_sparse_step";
    private static final String PUBLISHED_DENSE = "mlp_only_layers";
    private static final String LAYERS = "a list of numbers of layers, from 0";

    /** No model has a block with a number of more digits. */
    private static final Pattern BLOCKS = Pattern.compile("\\d{1,5}(,\\d{1,5})*");

    @Override
    public String name() {
        return "qwen3_moe";
    }

    @Override
    public String title() {
        return "Qwen3-MoE";
    }

    @Override
    protected String architecture() {
        return "Qwen3MoeForCausalLM";
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
    protected String ggufArchitecture() {
        return "qwen3moe";
    }

    @Override
    protected ExpertNames expertNames() {
        return ExpertNames.OF_MLP;
    }

    @Override
    protected Set<String> ownExpertKeys() {
        return Set.of(INNER, NORMALIZED, EVERY, DENSE);
    }

    @Override
    protected Experts read(Section section, int count, int perToken, ExpertTraining training, int inner) {
        return new Experts(count, perToken, section.has(INNER) ? section.positive(INNER) : inner, 0,
                new SoftmaxRouter(!section.has(NORMALIZED) || section.flag(NORMALIZED)),
                section.has(EVERY) ? section.positive(EVERY) : 1,
                section.has(DENSE) ? blocks(section.text(DENSE)) : List.of(), training);
    }

    private static List<Integer> blocks(String text) {
        if (!BLOCKS.matcher(text).matches()) {
            throw new IllegalArgumentException("model." + DENSE
                    + " must be numbers of blocks from 0 with commas between them, such as \"0,3\", but found " + text);
        }
        return Stream.of(text.split(",")).map(Integer::valueOf).toList();
    }

    @Override
    protected Map<String, Object> ownValues(Experts experts) {
        Map<String, Object> values = new HashMap<>(Map.of(INNER, experts.inner(), NORMALIZED,
                experts.router().equals(new SoftmaxRouter(true)), EVERY, experts.every()));
        if (!experts.denseBlocks().isEmpty()) {
            values.put(DENSE, experts.denseBlocks().stream().map(String::valueOf).collect(Collectors.joining(",")));
        }
        return values;
    }

    @Override
    protected Experts readPublished(PublishedConfig config, int perToken, ExpertTraining training) {
        if (config.isGiven(EXPERTS) && config.isGiven(LOCAL_EXPERTS)
                && config.positive(EXPERTS) != config.positive(LOCAL_EXPERTS)) {
            throw config.refusal(EXPERTS, "the same as " + LOCAL_EXPERTS);
        }
        List<Integer> dense = new ArrayList<>();
        if (config.isGiven(PUBLISHED_DENSE) && !config.value(PUBLISHED_DENSE).isArray()) {
            throw config.refusal(PUBLISHED_DENSE, LAYERS);
        }
        for (JsonNode block : config.value(PUBLISHED_DENSE)) {
            if (!block.isIntegralNumber() || !block.canConvertToInt() || block.intValue() < 0) {
                throw config.refusal(PUBLISHED_DENSE, LAYERS);
            }
            dense.add(block.intValue());
        }
        return new Experts(config.positive(config.isGiven(EXPERTS) ? EXPERTS : LOCAL_EXPERTS), perToken,
                config.positive(PUBLISHED_INNER), 0, new SoftmaxRouter(config.flag(PUBLISHED_NORMALIZED, false)),
                config.isGiven(PUBLISHED_EVERY) ? config.positive(PUBLISHED_EVERY) : 1, dense, training);
    }

    @Override
    protected void writeOwn(Experts experts, ObjectNode config) {
        config.put(EXPERTS, experts.count());
        config.put(PUBLISHED_INNER, experts.inner());
        config.put(PUBLISHED_NORMALIZED, experts.router().equals(new SoftmaxRouter(true)));
        config.put(PUBLISHED_EVERY, experts.every());
        ArrayNode dense = config.putArray(PUBLISHED_DENSE);
        experts.denseBlocks().forEach(dense::add);
    }
}
