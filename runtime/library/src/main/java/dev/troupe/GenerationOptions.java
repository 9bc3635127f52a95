package dev.troupe;

import static java.util.Objects.requireNonNull;

import dev.troupe.generate.Sampling;
import dev.troupe.look.model.TextRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The options of a text: how a token is drawn, and when the text ends. They have the names, the order and the defaults of
 * {@code ./troupe generate}, but no limit on tokens except the context. Immutable.
 */
public final class GenerationOptions {
    private static final GenerationOptions DEFAULTS = builder().build();

    private final OptionalInt tokens;
    private final Sampling sampling;
    private final List<String> stops;
    private final Optional<String> adapter;

    private GenerationOptions(Builder builder) {
        tokens = builder.tokens;
        stops = List.copyOf(builder.stops);
        adapter = builder.adapter;
        try {
            sampling = new Sampling(builder.temperature, builder.topK, builder.topP, builder.minP,
                    new Sampling.Penalties(builder.repetition, builder.presence, builder.frequency), builder.seed);
        } catch (IllegalArgumentException refused) {
            throw new RequestException(String.valueOf(refused.getMessage()), refused);
        }
    }

    /** Returns the defaults. */
    public static GenerationOptions defaults() {
        return DEFAULTS;
    }

    /** Returns the most likely token at each place. */
    public static GenerationOptions greedy() {
        return builder().temperature(0).build();
    }

    /** Returns a builder that begins with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns a builder that begins with these options. */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.stops.addAll(stops);
        builder.tokens = tokens;
        builder.adapter = adapter;
        builder.temperature = sampling.temperature();
        builder.topK = sampling.topK();
        builder.topP = sampling.topP();
        builder.minP = sampling.minP();
        builder.repetition = sampling.penalties().repetition();
        builder.presence = sampling.penalties().presence();
        builder.frequency = sampling.penalties().frequency();
        builder.seed = sampling.seed();
        return builder;
    }

    /** Returns the most tokens of a text after a prompt of this length. */
    int most(int promptTokens, int context) {
        return tokens.orElse(Math.max(1, context - promptTokens));
    }

    void requireAdapter(Set<String> known) {
        adapter.filter(name -> !known.contains(name)).ifPresent(name -> {
            throw new RequestException("there is no adapter " + name + ", but " + (known.isEmpty() ? "none" : known)
                    + ": add it to the builder of the generator");
        });
    }

    TextRequest request(int[] prompt, int most) {
        return new TextRequest(prompt, most, sampling, stops, Set.of(), -1, adapter);
    }

    /** The builder of options. Used by one thread. */
    public static final class Builder {
        private final List<String> stops = new ArrayList<>();
        private OptionalInt tokens = OptionalInt.empty();
        private Optional<String> adapter = Optional.empty();
        private double temperature = 0.8;
        private int topK;
        private double topP = 1;
        private double minP;
        private double repetition = 1;
        private double presence;
        private double frequency;
        private long seed = 1;

        private Builder() {
        }

        /** Sets the most tokens of the text, at least 1. */
        public Builder tokens(int most) {
            if (most < 1) {
                throw new RequestException("tokens must be at least 1, but found " + most);
            }
            tokens = OptionalInt.of(most);
            return this;
        }

        /** Sets the divisor of logits; 0 takes the most likely token. */
        public Builder temperature(double divisor) {
            temperature = divisor;
            return this;
        }

        /** Permits only the most likely tokens, by their number; 0 permits all. */
        public Builder topK(int count) {
            topK = count;
            return this;
        }

        /** Permits only the fewest most likely tokens with this total probability; 1 permits all. */
        public Builder topP(double probability) {
            topP = probability;
            return this;
        }

        /** Permits only tokens with at least this share of the largest probability; 0 permits all. */
        public Builder minP(double share) {
            minP = share;
            return this;
        }

        /** Sets the divisor of positive logits of tokens in prompt and text, which multiplies negative ones. */
        public Builder repetitionPenalty(double divisor) {
            repetition = divisor;
            return this;
        }

        /** Sets what the logit of a token loses if the text has it; from -2 to 2. */
        public Builder presencePenalty(double penalty) {
            presence = penalty;
            return this;
        }

        /** Sets what the logit of a token loses for each time that the text has it; from -2 to 2. */
        public Builder frequencyPenalty(double penalty) {
            frequency = penalty;
            return this;
        }

        /** Sets the number from which all draws follow. */
        public Builder seed(long number) {
            seed = number;
            return this;
        }

        /** Chooses an adapter of {@link TroupeGenerator.Builder#adapter}; without, the model writes as it is. */
        public Builder adapter(String name) {
            adapter = Optional.of(name);
            return this;
        }

        /** Adds a text before which the generated text ends. */
        public Builder stop(String text) {
            if (requireNonNull(text, "text").isEmpty()) {
                throw new RequestException("a stop text must have at least one character, but is empty");
            }
            stops.add(text);
            return this;
        }

        /** Replaces all texts before which the generated text ends. */
        public Builder stops(List<String> texts) {
            List<String> replacing = List.copyOf(texts);
            stops.clear();
            replacing.forEach(this::stop);
            return this;
        }

        /**
         * Checks the options.
         *
         * @throws RequestException with a sentence if one is wrong
         */
        public GenerationOptions build() {
            return new GenerationOptions(this);
        }
    }
}
