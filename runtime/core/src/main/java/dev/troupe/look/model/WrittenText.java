package dev.troupe.look.model;

import dev.troupe.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.List;

/**
 * The text of tokens that arrive one by one, in pieces that can be shown at once. A piece never splits a character, and no
 * piece has a stop string or the beginning of one that may still become whole: these are held back. All pieces together are
 * the text of all tokens, up to the first stop string.
 *
 * <p>Thread rule: one thread at a time.
 */
final class WrittenText {
    /** What a decoder makes of bytes that are no character, such as the first ones of a character. */
    private static final char INCOMPLETE = '\uFFFD';

    private final Tokenizer tokenizer;
    private final List<String> stops;
    private int[] tokens = new int[16];
    private int count;
    private int shown;
    private boolean isStopped;

    /**
     * @param stops the texts that end this one, none of them empty
     */
    WrittenText(Tokenizer tokenizer, List<String> stops) {
        this.tokenizer = tokenizer;
        this.stops = List.copyOf(stops);
        if (stops.contains("")) {
            throw new IllegalArgumentException("a stop string needs at least 1 character, but found none");
        }
    }

    /** Adds a token and returns the text that can be shown now; may be empty. */
    String add(int token) {
        if (count == tokens.length) {
            tokens = Arrays.copyOf(tokens, 2 * count);
        }
        tokens[count++] = token;
        String text = tokenizer.decode(Arrays.copyOf(tokens, count));
        int whole = text.length() - (!text.isEmpty() && text.charAt(text.length() - 1) == INCOMPLETE ? 1 : 0);
        return show(text.substring(0, whole), true);
    }

    /** Returns the text that was held back, after the last token. */
    String rest() {
        String text = tokenizer.decode(Arrays.copyOf(tokens, count));
        return show(text, false);
    }

    /** Returns whether a stop string has ended the text. */
    boolean isStopped() {
        return isStopped;
    }

    /** Returns the rest of a text, without what may be the beginning of a stop string if more may follow. */
    private String show(String text, boolean mayContinue) {
        if (isStopped) {
            return "";
        }
        int stop = stops.stream().mapToInt(one -> text.indexOf(one, shown)).filter(place -> place >= 0).min()
                .orElse(-1);
        isStopped = stop >= 0;
        int end = isStopped ? stop : text.length() - (mayContinue ? begun(text.substring(shown)) : 0);
        String piece = text.substring(shown, end);
        shown = end;
        return piece;
    }

    /** Returns the length of the longest end of a text with which a stop string begins. */
    private int begun(String text) {
        int longest = 0;
        for (String stop : stops) {
            for (int length = Math.min(stop.length() - 1, text.length()); length > longest; length--) {
                if (text.regionMatches(text.length() - length, stop, 0, length)) {
                    longest = length;
                }
            }
        }
        return longest;
    }
}
