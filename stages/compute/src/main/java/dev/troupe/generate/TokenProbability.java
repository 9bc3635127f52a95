package dev.troupe.generate;

/**
 * A token and how likely it was, over the whole vocabulary, at temperature 1 and without penalties.
 *
 * @param logProbability natural logarithm
 */
public record TokenProbability(int token, double logProbability) {
}
