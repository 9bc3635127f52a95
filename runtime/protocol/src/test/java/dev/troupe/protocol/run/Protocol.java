package dev.troupe.protocol.run;

/**
 * The rules of the protocol that a {@link Simulation} keeps, so that tests can break one and see the breach found.
 *
 * @param fencesEpochs whether a receiver drops messages of an earlier epoch
 * @param acceptsDuplicates whether a stage takes a message again that its rank gives back as a duplicate
 * @param cutsLogsBy the number of messages that a rank fails to send again
 * @param mixesAttempts whether a part of an earlier attempt at a checkpoint is taken for one of the present attempt
 * @param settlesAtOnce whether a checkpoint for which the run waits is reported complete as soon as it begins
 * @param fencesGroups whether a collective has members of one epoch alone
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

    /** Returns the term in the incarnation of a rank that is started under the coordinator of this term. */
    int startTerm(int term) {
        return namesStarts ? term : 0;
    }
}
