package dev.troupe.protocol.run;

import java.util.Random;

/**
 * Something that goes wrong in a {@link Simulation} before one of its moves.
 *
 * @param at the number of that move
 * @param victim the rank, the node, or the message in flight
 */
record Fault(int at, Kind kind, int victim) {
    enum Kind {
        /** A rank fails, with its computations and the orders it has received. */
        CRASH,
        /** A rank is taken for hanging, and computes until it is given up. */
        SUSPECT,
        /** A message is lost, and its receiver notices. */
        LOSS,
        /** A message is lost, and nobody notices until nothing moves any more. */
        SILENT_LOSS,
        /** A message comes twice. */
        DUPLICATE,
        /** A node dies, with its ranks and all its memory. */
        DEATH,
        /** The network cuts a node off from all others. */
        PARTITION,
        /** The oldest message between a rank and the coordinator is lost. */
        CONTROL_LOSS,
        /** The coordinator is lost with all its knowledge, and another takes over some time later. */
        LEADERLESS,
        /** The disk is full for the next write of a checkpoint during training. */
        FULL_DISK,
        /** The checkpoint for which the run waits makes no progress. */
        OVERDUE;

        /** Returns the number of ranks, nodes or messages it may strike. */
        int victims(Simulation run) {
            return switch (this) {
                case CRASH, SUSPECT, CONTROL_LOSS -> run.rankCount();
                case LOSS, SILENT_LOSS, DUPLICATE -> run.messagesOnTheirWay();
                case DEATH -> run.nodeCount();
                case PARTITION -> run.nodeCount() < 3 ? 0 : run.nodeCount();
                case LEADERLESS, FULL_DISK, OVERDUE -> 1;
            };
        }
    }

    static Fault random(int at, Simulation run, Random random) {
        Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
        return new Fault(at, kind, random.nextInt(Math.max(1, kind.victims(run))));
    }

    /** Has it happen; false if it cannot now. */
    boolean happen(Simulation run) {
        if (victim >= kind.victims(run)) {
            return false;
        }
        switch (kind) {
            case CRASH -> {
                return run.crash(victim);
            }
            case SUSPECT -> {
                return run.suspect(victim);
            }
            case LOSS -> run.lose(victim, true);
            case SILENT_LOSS -> run.lose(victim, false);
            case DUPLICATE -> run.duplicate(victim);
            case DEATH -> {
                return run.kill(victim);
            }
            case PARTITION -> {
                return run.cutOff(victim);
            }
            case CONTROL_LOSS -> {
                return run.loseControl(victim);
            }
            case LEADERLESS -> {
                return run.loseCoordinator();
            }
            case FULL_DISK -> {
                return run.fillDisk();
            }
            case OVERDUE -> {
                return run.giveUpCheckpoint();
            }
        }
        return true;
    }
}
