package dev.troupe.look.model;

import java.util.ArrayList;
import java.util.List;

/**
 * A whole text.
 *
 * @param pieces what each token added; {@code end.rest()} came last
 */
public record WrittenAnswer(String text, List<TextPiece> pieces, TextEnd end) {
    /** The pieces of a text that has not ended. Used by one thread at a time. */
    public static final class Builder {
        private final StringBuilder text = new StringBuilder();
        private final List<TextPiece> pieces = new ArrayList<>();

        /** Adds the next piece. */
        public void add(TextPiece piece) {
            text.append(piece.text());
            pieces.add(piece);
        }

        /** Returns the whole text. */
        public WrittenAnswer end(TextEnd end) {
            return new WrittenAnswer(text + end.rest(), List.copyOf(pieces), end);
        }
    }
}
