package dev.troupe.model.rotary;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.spec.ExpertTraining;
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
    private static final String Z_LOSS = "router-z-loss";
    private static final String BIAS_RATE = "bias-update-rate";
    private static final String CAPACITY = "capacity-factor";
    private static final String RANDOM_SECOND = "random-second-expert";
    private static final Set<String> TRAINING = Set.of(AUXILIARY_LOSS, Z_LOSS, BIAS_RATE, CAPACITY, RANDOM_SECOND);
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
    protected abstract Experts read(Section section, int count, int perToken, ExpertTraining training, int inner);

    /** Returns the values of {@link #ownExpertKeys}. */
    protected abstract Map<String, Object> ownValues(Experts experts);

    /** Returns the experts of a {@code config.json}. */
    protected abstract Experts readPublished(PublishedConfig config, int perToken, ExpertTraining training);

    /** Writes the keys of a {@code config.json} that other families with experts do not have. */
    protected abstract void writeOwn(Experts experts, ObjectNode config);

    @Override
    protected final Set<String> expertKeys() {
        Set<String> keys = new HashSet<>(ownExpertKeys());
        keys.addAll(Set.of(COUNT, PER_TOKEN));
        keys.addAll(TRAINING);
        return keys;
    }

    @Override
    public final Set<String> keysOfTraining() {
        return TRAINING;
    }

    @Override
    protected final Optional<Experts> experts(Section section, int inner) {
        return Optional.of(read(section, section.positive(COUNT),
                section.has(PER_TOKEN) ? section.positive(PER_TOKEN) : USUAL_PER_TOKEN,
                new ExpertTraining(section.number(AUXILIARY_LOSS, 0), section.number(Z_LOSS, 0),
                        section.number(BIAS_RATE, 0), section.number(CAPACITY, 0),
                        section.has(RANDOM_SECOND) && section.flag(RANDOM_SECOND)),
                inner));
    }

    @Override
    protected final Map<String, Object> values(Experts experts) {
        Map<String, Object> values = new HashMap<>(ownValues(experts));
        values.put(COUNT, experts.count());
        values.put(PER_TOKEN, experts.perToken());
        ExpertTraining training = experts.training();
        values.put(AUXILIARY_LOSS, training.auxiliaryLoss());
        values.put(Z_LOSS, training.routerZLoss());
        values.put(BIAS_RATE, training.biasUpdateRate());
        values.put(CAPACITY, training.capacityFactor());
        values.put(RANDOM_SECOND, training.drawsSecond());
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
            return Optional.of(readPublished(config, perToken, ExpertTraining.PLAIN));
        }
        config.flag(PUBLISHED_LOGITS, false);
        JsonNode coefficient = config.value(PUBLISHED_AUXILIARY_LOSS);
        if (!coefficient.isMissingNode() && !(coefficient.isNumber() && coefficient.doubleValue() >= 0
                && Double.isFinite(coefficient.doubleValue()))) {
            throw config.refusal(PUBLISHED_AUXILIARY_LOSS, "a number of at least 0");
        }
        return Optional.of(readPublished(config, perToken,
                new ExpertTraining(coefficient.asDouble(USUAL_AUXILIARY_LOSS), 0, 0, 0, false)));
    }

    @Override
    protected final void writePublished(Experts experts, ObjectNode config) {
        config.put(PUBLISHED_PER_TOKEN, experts.perToken());
        if (hasAuxiliaryLoss()) {
            config.put(PUBLISHED_AUXILIARY_LOSS, experts.training().auxiliaryLoss());
            config.put(PUBLISHED_LOGITS, experts.training().auxiliaryLoss() > 0);
        }
        writeOwn(experts, config);
    }
}
