package dev.troupe.cli.model;

import dev.troupe.generate.Sampling;
import dev.troupe.generate.Sampling.Penalties;
import dev.troupe.look.model.TextRequest;
import dev.troupe.plan.UsageException;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** The options that choose how tokens are drawn, and when a text ends. */
final class SamplingOptions {
    @Option(names = "--temperature", defaultValue = "0.8", paramLabel = "X", description = {
            "What logits are divided by; 0 takes the most likely token. Default: 0.8."})
    private double temperature;

    @Option(names = "--top-k", defaultValue = "0", paramLabel = "K", description = {
            "Only the K most likely tokens can be drawn; 0, the default, for all."})
    private int topK;

    @Option(names = "--top-p", defaultValue = "1", paramLabel = "P", description = {
            "Draws only from the smallest set of tokens with a total probability of P; 1, the default: from all."})
    private double topP;

    @Option(names = "--min-p", defaultValue = "0", paramLabel = "P", description = {
            "Draws only tokens with at least P times the largest probability; 0, the default: all."})
    private double minP;

    @Option(names = "--repetition-penalty", defaultValue = "1", paramLabel = "X", description = {
            "Divides positive logits of tokens in prompt and text, and multiplies negative ones; 1, the default, for none."})
    private double repetition;

    @Option(names = "--presence-penalty", defaultValue = "0", paramLabel = "X", description = {
            "Taken from the logits of tokens in the text; from -2 to 2, by default 0."})
    private double presence;

    @Option(names = "--frequency-penalty", defaultValue = "0", paramLabel = "X", description = {
            "Taken from the logit of a token for each time that the text has it; from -2 to 2, by default 0."})
    private double frequency;

    @Option(names = "--seed", defaultValue = "1", paramLabel = "SEED", description = {
            "The same seed gives the same text; answer I of --answers has the seed SEED + I. Default: 1."})
    private long seed;

    @Option(names = "--stop", paramLabel = "TEXT", description = {
            "Ends before this text. May be repeated."})
    private List<String> stops = List.of();

    @Option(names = "--stop-token", paramLabel = "ID", description = {
            "Ends at this token, in addition to those that the model ends with. May be repeated."})
    private List<Integer> stopTokens = List.of();

    /** Refuses what no text can be drawn by. */
    Sampling sampling() {
        try {
            return new Sampling(temperature, topK, topP, minP, new Penalties(repetition, presence, frequency), seed);
        } catch (IllegalArgumentException refused) {
            throw new UsageException(refused.getMessage(), refused);
        }
    }

    TextRequest request(int[] prompt, int most, int likeliest) {
        if (stops.contains("")) {
            throw new UsageException("--stop must have at least one character, but is empty: leave it out");
        }
        return new TextRequest(prompt, most, sampling(), stops, Set.copyOf(stopTokens), likeliest);
    }
}
