package dev.troupe.protocol;

import java.util.regex.Pattern;

/**
 * An error of a rank, identified by its place and its message, so that a repetition can be recognised.
 *
 * @param where the action, with its stage, microbatch and step, or the part of the step's tail
 * @param cause kind and message of the root cause
 */
public record Strike(String where, String cause) {
    /** Addresses, times and sizes, which differ between attempts with the same cause. */
    private static final Pattern NUMBER = Pattern.compile("0x[0-9a-fA-F]+|@[0-9a-fA-F]+|[0-9]+");

    /** Returns whether another error has the same place and, apart from numbers, the same message. */
    public boolean isAgain(Strike other) {
        return where.equals(other.where) && words().equals(other.words());
    }

    private String words() {
        return NUMBER.matcher(cause).replaceAll("#");
    }
}
