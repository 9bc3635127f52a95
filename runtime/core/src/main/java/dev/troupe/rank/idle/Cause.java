package dev.troupe.rank.idle;

import java.util.Locale;

/** The cause of a time in which a rank did not compute. */
public enum Cause {
    /** The plan: the rank would also wait if every action took its usual time. */
    PLAN,
    /** An action that the rank waits for took longer than usual. */
    PRODUCER,
    /** A message took longer than is usual on its edge. */
    WIRE,
    /** A message had no credit: its receiver had not taken the earlier ones. */
    CREDIT,
    /** Everything had arrived, and the rank had not begun yet. */
    CONTROL,
    /** The rank waited inside an action for another rank of its tensor or data group. */
    GROUP,
    /** The process stood still: garbage collection, or stopped from outside. */
    PAUSE,
    /** The rank's thread was ready to run and had no core. */
    CPU,
    /** A checkpoint was written between two steps. */
    STATE,
    /** The rows of a microbatch were not read yet. */
    DATA,
    /** The coordinator had not decided yet: the start of a step, or its update. */
    COMMIT,
    /** A rank had been restarted. */
    RECOVERY,
    /** The recorded times do not show it. */
    UNKNOWN;

    public String code() {
        return name().toLowerCase(Locale.ROOT);
    }
}
