package dev.troupe.protocol.run;

/**
 * What of the protocol a {@link Simulation} keeps to, so that tests can break it and see that the breach is found.
 *
 * @param fencesEpochs whether a receiver drops what was sent in an earlier epoch
 * @param acceptsDuplicates whether a stage takes in also what its rank gives back since it came before
 * @param cutsLogsBy how many messages fewer than it ought to a rank sends again
 * @param mixesAttempts whether a part of an earlier attempt at a checkpoint is taken for one of the present attempt
 * @param settlesAtOnce whether the run hears that a checkpoint stands, for which it waits, as soon as it is begun
 * @param fencesGroups whether a collective is of members of one epoch alone
 * @param locksDirectory whether a coordinator that takes over ends the process that still has the run's directory
 * @param namesCoordinators whether an order names its coordinator
 * @param namesStarts whether an incarnation names the coordinator under which it was started
 * @param outrunsLateNodes whether a coordinator continues above the epoch of a node that joins late
 */
record Protocol(boolean fencesEpochs, boolean acceptsDuplicates, int cutsLogsBy, boolean mixesAttempts,
        boolean settlesAtOnce, boolean fencesGroups, boolean locksDirectory, boolean namesCoordinators,
        boolean namesStarts, boolean outrunsLateNodes) {
    static final Protocol WHOLE = new Protocol(true, false, 0, false, false, true, true, true,
            true, true);

    /** Returns the term that the incarnation of a rank names which is started under the coordinator of this term. */
    int startTerm(int term) {
        return namesStarts ? term : 0;
    }
}
