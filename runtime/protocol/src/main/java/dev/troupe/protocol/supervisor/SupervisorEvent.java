package dev.troupe.protocol.supervisor;

import java.util.Optional;
import java.util.OptionalLong;

/** An event of a launcher. */
public sealed interface SupervisorEvent {
    /** The processes may start. */
    record Begin() implements SupervisorEvent {
    }

    /** Nodes may connect to the media driver of a host. */
    record DriverReady(String host) implements SupervisorEvent {
    }

    /**
     * The process of a media driver has ended.
     *
     * @param isInOrder whether the process ended by itself without a failure, after no node used it
     * @param how the end of the process, in words
     * @param complaint the reason that the process printed
     */
    record DriverEnded(String host, boolean isInOrder, String how, Optional<String> complaint)
            implements
                SupervisorEvent {
    }

    /**
     * The process of a node has ended.
     *
     * @param state any but {@link ProcessState#RUNNING}
     * @param how the end of the process, in words
     * @param hasComplained whether the process has printed the reason
     */
    record NodeEnded(String node, ProcessState state, String how, boolean hasComplained) implements SupervisorEvent {
    }

    /**
     * The answer of a node's process to {@link SupervisorCommand.Ask}.
     *
     * @param isUp whether the process has started, and waits for the other nodes or takes part in the run
     * @param stepsDone the committed steps known to the node; empty if it knows no run that has begun
     */
    record Answered(String node, long question, boolean isUp, OptionalLong stepsDone) implements SupervisorEvent {
    }

    /** The coordinator has moved to this node. */
    record TookOver(String node) implements SupervisorEvent {
    }

    /** The user asks for the end of the run: after the current step, or at once. */
    record StopAsked(boolean atOnce) implements SupervisorEvent {
    }

    /**
     * All processes have ended after {@link SupervisorCommand.End}.
     *
     * @param checkpoint the steps of the newest checkpoint; empty if there is none
     */
    record AllEnded(OptionalLong checkpoint) implements SupervisorEvent {
    }

    /** Time has passed. */
    record Tick() implements SupervisorEvent {
    }
}
