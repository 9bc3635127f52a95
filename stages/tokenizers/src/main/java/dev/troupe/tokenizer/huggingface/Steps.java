package dev.troupe.tokenizer.huggingface;

import dev.troupe.tokenizer.file.FilePart;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The steps that the search for tokens and words may take in a text, since an expression can backtrack for ever. One thread
 * at a time.
 */
final class Steps {
    /** Published expressions take some ten. */
    private static final long A_CHARACTER = 100;
    /** Long runs of white space take the square of their length. */
    private static final long BEGIN = 50_000_000;

    /** The remaining steps for all texts of a tokenizer; any thread. */
    static final class Allowance {
        private final AtomicLong left = new AtomicLong(BEGIN);

        /** Begins a text, which brings an allowance for each of its characters. */
        Steps begin(int length) {
            return new Steps(this, left.addAndGet((length + 1) * A_CHARACTER));
        }
    }

    private final Allowance allowance;
    private final long most;
    private long left;
    private FilePart source;

    private Steps(Allowance allowance, long most) {
        this.allowance = allowance;
        this.most = most;
        this.left = most;
    }

    /** Sets the part of the file that takes the next steps. */
    void by(FilePart part) {
        source = part;
    }

    /** Takes some steps, or refuses the part of the file that takes too many. */
    void take(int count) {
        left -= count;
        if (left < 0) {
            throw source.refusal("is too slow to be used: " + source.shown() + " takes more than " + most
                    + " steps for a text, while published ones take some ten a character; use a tokenizer with an"
                    + " expression that does not try the same characters again and again");
        }
    }

    void end() {
        allowance.left.addAndGet(left - most);
    }
}
