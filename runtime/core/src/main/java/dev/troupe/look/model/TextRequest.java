package dev.troupe.look.model;

import dev.troupe.generate.Sampling;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A prompt and how it is continued.
 *
 * @param prompt at least one token of the model's vocabulary
 * @param most the most tokens of the text, at least 1; prompt and text fit in the context
 * @param stops the texts that end this one, and are no part of it
 * @param stopTokens the tokens that end the text in addition to the model's own
 * @param likeliest how many likely tokens come with each token and its probability; negative: neither is computed
 * @param adapter the name of the adapter with which the model writes; empty: none
 */
public record TextRequest(int[] prompt, int most, Sampling sampling, List<String> stops, Set<Integer> stopTokens,
        int likeliest, Optional<String> adapter) {
    public TextRequest {
        if (prompt.length == 0 || most < 1) {
            throw new IllegalArgumentException("a text needs a token before it and one of its own, but found "
                    + prompt.length + " and " + most);
        }
        stops = List.copyOf(stops);
        stopTokens = Set.copyOf(stopTokens);
    }

    /** Creates a request to the model without an adapter. */
    public TextRequest(int[] prompt, int most, Sampling sampling, List<String> stops, Set<Integer> stopTokens,
            int likeliest) {
        this(prompt, most, sampling, stops, stopTokens, likeliest, Optional.empty());
    }

    /** Returns the same request to the model with an adapter. */
    public TextRequest ofAdapter(Optional<String> name) {
        return new TextRequest(prompt, most, sampling, stops, stopTokens, likeliest, name);
    }

    /** Returns the request for one of several answers to the prompt; see {@link Sampling#ofAnswer}. */
    public TextRequest ofAnswer(int number) {
        return new TextRequest(prompt, most, sampling.ofAnswer(number), stops, stopTokens, likeliest,
                adapter);
    }
}
