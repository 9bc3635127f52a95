package dev.troupe.schedule;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One thing that a rank does in one stage, for one microbatch or once in a step. Its text is the one PyTorch uses:
 * {@code 2F0}, {@code 1B3}, {@code 0I2}, {@code 0W2}, {@code 1SEND_F0}, {@code 2RECV_F0}, {@code 2UNSHARD}.
 *
 * @param stage index of the stage whose rank does it, from 0; a message is named after its own end
 * @param kind the kind of work
 * @param microbatch index of the microbatch, from 0; {@link #WHOLE_STEP} of a kind that is done once in a step
 */
public record Action(int stage, Kind kind, int microbatch) {
    /** The microbatch of an action that has none. */
    public static final int WHOLE_STEP = -1;

    // Nine digits at most, so that a number in a hand-written plan always fits an int.
    private static final Pattern TEXT = Pattern.compile("(\\d{1,9})([A-Z_]+)(\\d{0,9})(@\\d{1,9})?");

    public Action {
        if (stage < 0 || kind.isPerMicrobatch() && microbatch < 0) {
            throw new PlanException("An action needs a stage and a microbatch of 0 or more, but has stage " + stage
                    + " and microbatch " + microbatch + ".");
        }
        if (!kind.isPerMicrobatch() && microbatch != WHOLE_STEP) {
            throw new PlanException(kind.code() + " is done once in a step: write " + stage + kind.code()
                    + ", without microbatch " + microbatch + ".");
        }
    }

    /** Creates an action that is done once in a step. */
    public Action(int stage, Kind kind) {
        this(stage, kind, WHOLE_STEP);
    }

    /**
     * Reads an action from its text; blanks around it are ignored.
     *
     * @throws PlanException if the text is none; the message shows the form
     */
    public static Action parse(String text) {
        Matcher parts = TEXT.matcher(text.strip());
        if (!parts.matches()) {
            throw noAction(text);
        }
        Kind kind = Kind.ofCode(parts.group(2));
        if (parts.group(4) != null) {
            throw new PlanException(
                    "\"" + text.strip() + "\" names a version of the weights, but a step has one: write "
                            + text.strip().substring(0, parts.start(4)) + ".");
        }
        if (parts.group(3).isEmpty()) {
            if (kind.isPerMicrobatch()) {
                throw noAction(text);
            }
            return new Action(Integer.parseInt(parts.group(1)), kind);
        }
        return new Action(Integer.parseInt(parts.group(1)), kind, Integer.parseInt(parts.group(3)));
    }

    private static PlanException noAction(String text) {
        return new PlanException("\"" + text.strip() + "\" is no action: write stage, kind and microbatch, as in "
                + "2F0, 1B3 or 1SEND_F0.");
    }

    /** Returns the action of another kind for the same stage, and where that kind has one for the same microbatch. */
    public Action as(Kind other) {
        return new Action(stage, other, other.isPerMicrobatch() ? microbatch : WHOLE_STEP);
    }

    @Override
    public String toString() {
        return kind.isPerMicrobatch() ? stage + kind.code() + microbatch : stage + kind.code();
    }
}
