package dev.troupe.schedule;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One thing that a rank does for one microbatch in one stage. Its text is the one PyTorch uses: {@code 2F0},
 * {@code 1B3}, {@code 0I2}, {@code 0W2}, {@code 1SEND_F0}, {@code 2RECV_F0}.
 *
 * @param stage index of the stage whose rank does it, from 0; a message is named after the end that it stands on
 * @param kind what is done
 * @param microbatch index of the microbatch, from 0
 */
public record Action(int stage, Kind kind, int microbatch) {
    // Nine digits at most, so that a number in a hand-written plan always fits an int.
    private static final Pattern TEXT = Pattern.compile("(\\d{1,9})([A-Z_]+)(\\d{1,9})");

    public Action {
        if (stage < 0 || microbatch < 0) {
            throw new PlanException("An action needs a stage and a microbatch of 0 or more, but has stage " + stage
                    + " and microbatch " + microbatch + ".");
        }
    }

    /**
     * Reads an action from its text; blanks around it are ignored.
     *
     * @throws PlanException if the text is none; the message shows the form
     */
    public static Action parse(String text) {
        Matcher parts = TEXT.matcher(text.strip());
        if (!parts.matches()) {
            throw new PlanException("\"" + text.strip() + "\" is no action: write stage, kind and microbatch, as in "
                    + "2F0, 1B3 or 1SEND_F0.");
        }
        return new Action(Integer.parseInt(parts.group(1)), Kind.ofCode(parts.group(2)),
                Integer.parseInt(parts.group(3)));
    }

    /** The action of another kind for the same stage and microbatch. */
    public Action as(Kind other) {
        return new Action(stage, other, microbatch);
    }

    /**
     * The stage at the other end of this message; -1 or the stage count where there is none.
     *
     * @throws IllegalStateException if this action is no message
     */
    public int peerStage() {
        return switch (kind) {
            case SEND_F, RECV_B -> stage + 1;
            case RECV_F, SEND_B -> stage - 1;
            case FORWARD, FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT ->
                throw new IllegalStateException(this + " computes: it is no message and has no other end.");
        };
    }

    /**
     * The other end of this message: {@code 2RECV_F0} for {@code 1SEND_F0}.
     *
     * @throws IllegalStateException if this action is no message
     */
    public Action peer() {
        Kind other = switch (kind) {
            case SEND_F -> Kind.RECV_F;
            case RECV_F -> Kind.SEND_F;
            case SEND_B -> Kind.RECV_B;
            case RECV_B -> Kind.SEND_B;
            case FORWARD, FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT ->
                throw new IllegalStateException(this + " computes: it is no message and has no other end.");
        };
        return new Action(peerStage(), other, microbatch);
    }

    @Override
    public String toString() {
        return stage + kind.code() + microbatch;
    }
}
