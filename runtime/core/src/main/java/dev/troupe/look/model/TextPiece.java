package dev.troupe.look.model;

import dev.troupe.generate.TokenProbability;
import java.util.List;
import java.util.OptionalDouble;

/**
 * The piece that a token adds to a text.
 *
 * @param text whole characters; empty if the token ends within a character, or with the beginning of a stop text
 * @param logProbability natural logarithm, if the request asks for it
 * @param likeliest the most likely tokens at its place, in the number that the request asks for
 */
public record TextPiece(String text, int token, OptionalDouble logProbability, List<TokenProbability> likeliest) {
}
