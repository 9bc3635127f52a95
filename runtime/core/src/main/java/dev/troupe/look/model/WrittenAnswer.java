package dev.troupe.look.model;

import java.util.List;

/**
 * A whole text.
 *
 * @param pieces what each token added; {@code end.rest()} came last
 */
public record WrittenAnswer(String text, List<TextPiece> pieces, TextEnd end) {
}
