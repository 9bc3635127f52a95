package dev.troupe.stage;

/**
 * How a stage replays its blocks where {@link Recompute#FULL} keeps inputs alone. A stage's half of a block counts as one.
 *
 * @param every blocks from one kept input to the next: of those in between the input is made again, too, and all of
 *     them are there at a time while the backward goes over them
 * @param ahead the most blocks that are replayed before the gradient arrives, counted from the stage's end; 0 for none
 */
public record Replay(int every, int ahead) {
    /** Each block by itself, right before its backward. */
    public static final Replay INSIDE = new Replay(1, 0);
    /** As many blocks as a stage has. */
    public static final int ALL = Integer.MAX_VALUE;

    public Replay {
        if (every < 1 || ahead < 0) {
            throw new IllegalArgumentException(
                    "blocks from one kept input to the next must be 1 or more, and blocks that"
                            + " are replayed ahead 0 or more, but found " + every + " and " + ahead);
        }
    }
}
