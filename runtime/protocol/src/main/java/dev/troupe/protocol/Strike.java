package dev.troupe.protocol;

import java.util.regex.Pattern;

/**
 * An error of a rank, in a form that a repetition equals: its place and its message.
 *
 * @param where the action, with its stage, microbatch and step, or the part of the step's tail
 * @param cause kind and message of the error at the root of all others
 */
public record Strike(String where, String cause) {
    /** Addresses, times and sizes differ from one attempt to the next although the cause is the same. */
    private static final Pattern NUMBER = Pattern.compile("0x[0-9a-fA-F]+|@[0-9a-fA-F]+|[0-9]+");

    /** Returns whether another error is the same: the same place, and the same words but for their numbers. */
    public boolean isAgain(Strike other) {
        return where.equals(other.where) && words().equals(other.words());
    }

    private String words() {
        return NUMBER.matcher(cause).replaceAll("#");
    }
}
