package dev.troupe.stage;

import dev.troupe.offload.StateStore;
import java.util.Optional;

/**
 * The settings of the replay of blocks under {@link Recompute#FULL}, which keeps only inputs. A stage's half of a block
 * counts as one.
 *
 * @param every blocks from one kept input to the next; the inputs in between are computed again, and are all in memory
 *     during the backward of the group
 * @param ahead the most blocks that are replayed before the gradient arrives, counted from the stage's end; 0 for none
 * @param partition whether the ranks of a tensor-parallel group divide the kept inputs of blocks, and gather each before its
 *     replay (ZeRO-R, Rajbhandari et al. 2020, section 6.1); no effect in a group of one, or if they divide rows anyway
 * @param store the store of the kept inputs of a rank, if they are not in memory; {@link StateStore#NOTHING} in a plan
 */
public record Replay(int every, int ahead, boolean partition, Optional<StateStore> store) {
    /** Each block by itself, right before its backward. */
    public static final Replay INSIDE = new Replay(1, 0);
    /** All blocks of a stage. */
    public static final int ALL = Integer.MAX_VALUE;

    /** Creates settings with whole inputs. */
    public Replay(int every, int ahead) {
        this(every, ahead, false, Optional.empty());
    }

    /** Returns the same with another number of blocks ahead. */
    public Replay withAhead(int blocks) {
        return new Replay(every, blocks, partition, store);
    }

    /** Returns the same with inputs in another store, if they are in a store. */
    Replay storing(StateStore other) {
        return new Replay(every, ahead, partition, store.map(_ -> other));
    }

    public Replay {
        if (every < 1 || ahead < 0) {
            throw new IllegalArgumentException(
                    "blocks from one kept input to the next must be 1 or more, and blocks that"
                            + " are replayed ahead 0 or more, but found " + every + " and " + ahead);
        }
    }
}
