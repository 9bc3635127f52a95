package dev.troupe.stage;

/**
 * The settings of the replay of blocks under {@link Recompute#FULL}, which keeps only inputs. A stage's half of a block
 * counts as one.
 *
 * @param every blocks from one kept input to the next; the inputs in between are computed again, and are all in memory
 *     during the backward of the group
 * @param ahead the most blocks that are replayed before the gradient arrives, counted from the stage's end; 0 for none
 * @param partition whether the ranks of a tensor-parallel group divide the kept inputs of blocks, and gather each before its
 *     replay (ZeRO-R, Rajbhandari et al. 2020, section 6.1); no effect in a group of one, or if they divide rows anyway
 */
public record Replay(int every, int ahead, boolean partition) {
    /** Each block by itself, right before its backward. */
    public static final Replay INSIDE = new Replay(1, 0, false);
    /** All blocks of a stage. */
    public static final int ALL = Integer.MAX_VALUE;

    /** Creates settings with whole inputs. */
    public Replay(int every, int ahead) {
        this(every, ahead, false);
    }

    /** Returns the same with another number of blocks ahead. */
    public Replay withAhead(int blocks) {
        return new Replay(every, blocks, partition);
    }

    public Replay {
        if (every < 1 || ahead < 0) {
            throw new IllegalArgumentException(
                    "blocks from one kept input to the next must be 1 or more, and blocks that"
                            + " are replayed ahead 0 or more, but found " + every + " and " + ahead);
        }
    }
}
