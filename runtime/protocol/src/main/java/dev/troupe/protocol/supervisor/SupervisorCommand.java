package dev.troupe.protocol.supervisor;

/** A command of a {@link SupervisorMachine}. */
public sealed interface SupervisorCommand {
    /** Start the media driver of a host; report when it is ready, and its end. */
    record StartDriver(String host) implements SupervisorCommand {
    }

    /**
     * Start the process of a node, and report its end.
     *
     * @param rejoins whether the process replaces a lost one in a run in progress
     */
    record StartNode(String node, boolean rejoins) implements SupervisorCommand {
    }

    /**
     * Ask the process of a node for the committed steps of the run.
     *
     * @param areOthersStarting whether another process is still starting, so that the node restarts its wait for the others
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

    /** Refuse the run, since nothing can start, and end the processes that were started. */
    record Refuse(String why) implements SupervisorCommand {
    }

    /**
     * End the living processes, since the run is over on this machine; report the end of each, and then {@link
     * SupervisorEvent.AllEnded}.
     */
    record End(boolean kills) implements SupervisorCommand {
    }

    /** Launch the run again, from its newest checkpoint or, if it has none, from its first step. */
    record LaunchAgain() implements SupervisorCommand {
    }
}
