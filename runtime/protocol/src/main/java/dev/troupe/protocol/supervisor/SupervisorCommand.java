package dev.troupe.protocol.supervisor;

/** A command of a {@link SupervisorMachine}. */
public sealed interface SupervisorCommand {
    /** Start the media driver of a host, and report that it is ready, or its end. */
    record StartDriver(String host) implements SupervisorCommand {
    }

    /**
     * Start the process of a node, and report its end.
     *
     * @param rejoins whether the process joins a run that is in progress, in place of a lost one
     */
    record StartNode(String node, boolean rejoins) implements SupervisorCommand {
    }

    /**
     * Ask the process of a node for the committed steps of the run.
     *
     * @param areOthersStarting whether another process still starts, so that the node's wait for the others begins anew
     */
    record Ask(String node, long question, boolean areOthersStarting) implements SupervisorCommand {
    }

    /** Ask the process of a node to stop: after the current step, or at once. */
    record Stop(String node, boolean atOnce) implements SupervisorCommand {
    }

    /** Print a sentence for the user. */
    record Say(String sentence) implements SupervisorCommand {
    }

    /** Print a sentence as an error. */
    record Complain(String sentence) implements SupervisorCommand {
    }

    /** Nothing can start, for the reason in this sentence; end the processes that were started. */
    record Refuse(String why) implements SupervisorCommand {
    }

    /**
     * The run is over on this machine: end the processes that live, report the end of each, and then
     * {@link SupervisorEvent.AllEnded}.
     *
     * @param kills whether the processes are killed
     */
    record End(boolean kills) implements SupervisorCommand {
    }

    /** Launch the run again, from its newest checkpoint, or from the beginning if there is none. */
    record LaunchAgain() implements SupervisorCommand {
    }
}
