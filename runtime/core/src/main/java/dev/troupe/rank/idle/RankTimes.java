package dev.troupe.rank.idle;

import java.util.List;
import java.util.stream.LongStream;

/**
 * The times of one rank in one step. Instants are nanoseconds after {@code beginNanos}, arrays are by the position in the
 * rank's row, and 0 means that nothing was recorded.
 *
 * @param rank the number of the rank in the world, tensor fastest, then data, then pipeline
 * @param epoch the epoch in which the rank ended the step
 * @param beginNanos the instant at which the rank received the start of the step, on a clock that all ranks share
 * @param starts the start of each action that the rank did
 * @param moved of a receive the landing of its tensor, of a send the hand-over to the transport
 * @param groupNanos the time inside an action in which the rank waited for other ranks of a group
 * @param dataNanos the time inside an action in which it read the rows of a microbatch
 * @param cpuNanos the time for which the rank's thread had no core, from the end of the action before to the end of this one
 * @param creditNanos the time for which the message of a send had no credit
 * @param bytes the size of the tensor of a send, without headers
 */
public record RankTimes(int rank, int epoch, long beginNanos, long[] starts, long[] ends, long[] moved,
        long[] groupNanos, long[] dataNanos, long[] cpuNanos, long[] creditNanos, long[] bytes, List<Pause> pauses) {
    /**
     * A pause of the process.
     *
     * @param fromNanos its beginning, on the clock of {@code beginNanos}
     */
    public record Pause(long fromNanos, long toNanos) {
    }

    boolean did(int position) {
        return ends[position] != 0;
    }

    public long startNanos(int position) {
        return beginNanos + starts[position];
    }

    public long endNanos(int position) {
        return beginNanos + ends[position];
    }

    public long lastNanos() {
        return beginNanos + LongStream.of(ends).max().orElse(0);
    }

    /** Returns whether the rank recorded when a message landed or was handed to the transport. */
    boolean hasMoved(int position) {
        return moved[position] != 0;
    }

    /** Returns the instant at which a tensor landed, or was handed to the transport, on the shared clock. */
    public long movedNanos(int position) {
        return beginNanos + moved[position];
    }

    /** Returns the same times on a clock that is ahead of this one by {@code nanos}. */
    public RankTimes shifted(long nanos) {
        return new RankTimes(rank, epoch, beginNanos + nanos, starts, ends, moved, groupNanos, dataNanos, cpuNanos,
                creditNanos, bytes, pauses.stream().map(pause -> new Pause(pause.fromNanos() + nanos,
                        pause.toNanos() + nanos)).toList());
    }
}
