package dev.troupe.look.model;

import dev.troupe.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.List;

/**
 * The text of tokens that arrive one by one, in pieces that can be shown at once. A piece never splits a character, and no
 * piece has a stop text or the beginning of one that may still become whole: these are held back. All pieces together are
 * the text of all tokens, up to the first stop text.
 *
 * <p>Thread rule: one thread at a time.
 */
final class WrittenText {
    /** What a decoder makes of bytes that are no character, such as the first ones of a character. */
    private static final char INCOMPLETE = '\uFFFD';

    private final Tokenizer tokenizer;
    private final List<String> stops;
    private final StringBuilder text = new StringBuilder();
    /** The tokens after {@link #settled}. */
    private int[] open = new int[16];
    private int openCount;
    /** The length of the text that no later token changes: it ends with a whole character. */
    private int settled;
    private int shown;
    private boolean isStopped;

    /**
     * @param stops the texts that end this one, none of them empty
     */
    WrittenText(Tokenizer tokenizer, List<String> stops) {
        this.tokenizer = tokenizer;
        this.stops = List.copyOf(stops);
        if (stops.contains("")) {
            throw new IllegalArgumentException("a stop text needs at least 1 character, but found none");
        }
    }

    /** Adds a token and returns the text that can be shown now; may be empty. */
    String add(int token) {
        if (openCount == open.length) {
            open = Arrays.copyOf(open, 2 * openCount);
        }
        open[openCount++] = token;
        text.replace(settled, text.length(), tokenizer.decode(Arrays.copyOf(open, openCount)));
        if (!text.isEmpty() && text.charAt(text.length() - 1) == INCOMPLETE) {
            return show(text.length() - 1, true);
        }
        settled = text.length();
        openCount = 0;
        return show(settled, true);
    }

    /** Returns the text that was held back, after the last token. */
    String rest() {
        return show(text.length(), false);
    }

    /** Returns whether a stop text has ended the text. */
    boolean isStopped() {
        return isStopped;
    }

    /** Returns the rest of the text up to a length, without what may be the beginning of a stop text if more may follow. */
    private String show(int length, boolean mayContinue) {
        if (isStopped) {
            return "";
        }
        String hidden = text.substring(shown, length);
        int stop = stops.stream().mapToInt(hidden::indexOf).filter(place -> place >= 0).min().orElse(-1);
        isStopped = stop >= 0;
        int end = isStopped ? stop : hidden.length() - (mayContinue ? begun(hidden) : 0);
        shown += end;
        return hidden.substring(0, end);
    }

    /** Returns the length of the longest end of a text with which a stop text begins. */
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
