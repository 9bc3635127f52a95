package dev.troupe.schedule;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A unit of work of a rank in one stage, for one microbatch or once in a step. Its text is PyTorch's: {@code 2F0},
 * {@code 1B3}, {@code 0I2}, {@code 0W2}, {@code 1SEND_F0}, {@code 2RECV_F0}, {@code 2UNSHARD}. If the steps of a plan
 * overlap, an action of a whole step names the step, {@code 2UPDATE3}, and a forward or backward names the version of the
 * weights that it reads, {@code 2F6@2}.
 *
 * @param stage index of its stage, from 0; a message has one action at each end
 * @param microbatch index of the microbatch, from 0; the index of the step if the kind is done once in a step;
 *     {@link #WHOLE_STEP} in a plan of one step
 * @param version the number of updates in the weights that a forward or backward reads; {@link #ONLY_VERSION} if the step
 *     has one version
 */
public record Action(int stage, Kind kind, int microbatch, int version) {
    /** The microbatch of an action that has none and names no step. */
    public static final int WHOLE_STEP = -1;
    /** The version of an action that names none. */
    public static final int ONLY_VERSION = -1;

    // Nine digits at most, so that a number in a hand-written plan always fits an int.
    private static final Pattern TEXT = Pattern.compile("(\\d{1,9})([A-Z_]+)(\\d{0,9})(?:@(\\d{1,9}))?");

    public Action {
        if (stage < 0 || kind.isPerMicrobatch() && microbatch < 0) {
            throw new PlanException("An action needs a stage and a microbatch of 0 or more, but has stage " + stage
                    + " and microbatch " + microbatch + ".");
        }
        if (microbatch < WHOLE_STEP || version < ONLY_VERSION) {
            throw new PlanException("The step and the version of an action are 0 or more, but are " + microbatch
                    + " and " + version + ".");
        }
        if (version != ONLY_VERSION && !kind.isCompute()) {
            throw new PlanException(kind.code() + " reads no weights of a version: write " + stage + kind.code()
                    + (microbatch == WHOLE_STEP ? "" : microbatch) + ", without @" + version + ".");
        }
    }

    /** Creates an action that names no version of the weights. */
    public Action(int stage, Kind kind, int microbatch) {
        this(stage, kind, microbatch, ONLY_VERSION);
    }

    /** Creates an action that is done once in the only step of its plan. */
    public Action(int stage, Kind kind) {
        this(stage, kind, WHOLE_STEP);
    }

    /**
     * Reads an action from its text; blanks around it are ignored.
     *
     * @throws PlanException if the text is no action; the message shows the form
     */
    public static Action parse(String text) {
        Matcher parts = TEXT.matcher(text.strip());
        if (!parts.matches()) {
            throw noAction(text);
        }
        Kind kind = Kind.ofCode(parts.group(2));
        if (parts.group(3).isEmpty() && kind.isPerMicrobatch()) {
            throw noAction(text);
        }
        return new Action(Integer.parseInt(parts.group(1)), kind, number(parts.group(3), WHOLE_STEP),
                number(parts.group(4), ONLY_VERSION));
    }

    private static int number(String digits, int otherwise) {
        return digits == null || digits.isEmpty() ? otherwise : Integer.parseInt(digits);
    }

    private static PlanException noAction(String text) {
        return new PlanException("\"" + text.strip() + "\" is no action: write stage, kind and microbatch, as in "
                + "2F0, 1B3 or 1SEND_F0.");
    }

    /**
     * Returns the action of another kind for the same stage. Microbatch, step and version are kept if that kind has them.
     */
    public Action as(Kind other) {
        return new Action(stage, other, other.isPerMicrobatch() == kind.isPerMicrobatch() ? microbatch : WHOLE_STEP,
                other.isCompute() ? version : ONLY_VERSION);
    }

    /** Returns the same work on this version of the weights. */
    public Action on(int otherVersion) {
        return new Action(stage, kind, microbatch, otherVersion);
    }

    /** Returns the same work without its version of the weights. */
    public Action work() {
        return version == ONLY_VERSION ? this : on(ONLY_VERSION);
    }

    public boolean namesVersion() {
        return version != ONLY_VERSION;
    }

    @Override
    public String toString() {
        return stage + kind.code() + (microbatch == WHOLE_STEP ? "" : microbatch)
                + (namesVersion() ? "@" + version : "");
    }
}
