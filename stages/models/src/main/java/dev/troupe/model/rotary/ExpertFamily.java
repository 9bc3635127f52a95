package dev.troupe.model.rotary;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.spec.Section;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A family of Llama's kind with experts in some blocks. Only attention can have adapters. */
public abstract class ExpertFamily extends RotaryFamily {
    protected static final String LOCAL_EXPERTS = "num_local_experts";
    private static final String COUNT = "experts";
    private static final String PER_TOKEN = "experts-per-token";
    private static final String AUXILIARY_LOSS = "auxiliary-loss";
    private static final String PUBLISHED_PER_TOKEN = "num_experts_per_tok";
    private static final String PUBLISHED_AUXILIARY_LOSS = "router_aux_loss_coef";
    /** If false, transformers ignores the coefficient. */
    private static final String PUBLISHED_LOGITS = "output_router_logits";
    /** The coefficient if a configuration has none, as in transformers. */
    private static final double USUAL_AUXILIARY_LOSS = 0.001;
    private static final int USUAL_PER_TOKEN = 2;

    @Override
    protected boolean biasesQueriesKeysAndValues() {
        return false;
    }

    /** Returns whether its models can have an auxiliary loss. */
    protected boolean hasAuxiliaryLoss() {
        return true;
    }

    @Override
    protected final int defaultHeadSize(PublishedConfig config, int hidden, int heads) {
        return evenHeadSize(config, hidden, heads);
    }

    /** Returns the keys of a section that other families with experts do not have. */
    protected abstract Set<String> ownExpertKeys();

    /**
     * Returns the experts of a section.
     *
     * @param inner inner width of the model's MLPs
     */
    protected abstract Experts read(Section section, int count, int perToken, double auxiliaryLoss, int inner);

    /** Returns the values of {@link #ownExpertKeys}. */
    protected abstract Map<String, Object> ownValues(Experts experts);

    /** Returns the experts of a {@code config.json}. */
    protected abstract Experts readPublished(PublishedConfig config, int perToken, double auxiliaryLoss);

    /** Writes the keys of a {@code config.json} that other families with experts do not have. */
    protected abstract void writeOwn(Experts experts, ObjectNode config);

    @Override
    protected final Set<String> expertKeys() {
        Set<String> keys = new HashSet<>(ownExpertKeys());
        keys.addAll(Set.of(COUNT, PER_TOKEN));
        if (hasAuxiliaryLoss()) {
            keys.add(AUXILIARY_LOSS);
        }
        return keys;
    }

    @Override
    protected final Optional<Experts> experts(Section section, int inner) {
        return Optional.of(read(section, section.positive(COUNT),
                section.has(PER_TOKEN) ? section.positive(PER_TOKEN) : USUAL_PER_TOKEN,
                section.number(AUXILIARY_LOSS, 0), inner));
    }

    @Override
    protected final Map<String, Object> values(Experts experts) {
        Map<String, Object> values = new HashMap<>(ownValues(experts));
        values.put(COUNT, experts.count());
        values.put(PER_TOKEN, experts.perToken());
        if (hasAuxiliaryLoss()) {
            values.put(AUXILIARY_LOSS, experts.auxiliaryLoss());
        }
        return values;
    }

    /**
     * The auxiliary loss follows its coefficient alone. In transformers it is off if {@code output_router_logits} is false,
     * which is the default, whatever the coefficient.
     */
    @Override
    protected final Optional<Experts> experts(PublishedConfig config) {
        int perToken = config.positive(PUBLISHED_PER_TOKEN);
        if (!hasAuxiliaryLoss()) {
            return Optional.of(readPublished(config, perToken, 0));
        }
        config.flag(PUBLISHED_LOGITS, false);
        JsonNode coefficient = config.value(PUBLISHED_AUXILIARY_LOSS);
        if (!coefficient.isMissingNode() && !(coefficient.isNumber() && coefficient.doubleValue() >= 0
                && Double.isFinite(coefficient.doubleValue()))) {
            throw config.refusal(PUBLISHED_AUXILIARY_LOSS, "a number of at least 0");
        }
        return Optional.of(readPublished(config, perToken,
                coefficient.asDouble(USUAL_AUXILIARY_LOSS)));
    }

    @Override
    protected final void writePublished(Experts experts, ObjectNode config) {
        config.put(PUBLISHED_PER_TOKEN, experts.perToken());
        if (hasAuxiliaryLoss()) {
            config.put(PUBLISHED_AUXILIARY_LOSS, experts.auxiliaryLoss());
            config.put(PUBLISHED_LOGITS, experts.auxiliaryLoss() > 0);
        }
        writeOwn(experts, config);
    }
}
