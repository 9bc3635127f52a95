package dev.troupe.protocol;

import java.util.regex.Pattern;

/**
 * An error of a rank, as far as it can be met again: if it struck, and what it said.
 *
 * @param if the action, with its stage, microbatch and step, or the part of the step's tail
 * @param cause kind and message of the error at the root of all others
 */
public record Strike(String where, String cause) {
    /** Addresses, times and sizes differ from one attempt to the next and say nothing of another cause. */
    private static final Pattern NUMBER = Pattern.compile("0x[0-9a-fA-F]+|@[0-9a-fA-F]+|[0-9]+");

    /** Whether another is this one once more: the same place, and the same words but for their numbers. */
    public boolean isAgain(Strike other) {
        return where.equals(other.where) && words().equals(other.words());
    }

    private String words() {
        return NUMBER.matcher(cause).replaceAll("#");
    }
}
