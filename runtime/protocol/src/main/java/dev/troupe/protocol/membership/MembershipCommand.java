package dev.troupe.protocol.membership;

import dev.troupe.protocol.FixedOrder;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.run.CoordinatorFailover;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A command of a {@link MembershipMachine}.
 *
 * @param <N> the identity of a node's process
 */
public sealed interface MembershipCommand<N> {
    record Refuse<N>(N node, String why) implements MembershipCommand<N> {
    }

    /** Watch the process of a node that has joined, and report its end. */
    record Watch<N>(N node, String name) implements MembershipCommand<N> {
    }

    /** Watch a process again after a moment; a second report of its end is certain. */
    record WatchAgain<N>(N node, String name) implements MembershipCommand<N> {
    }

    /** Report the nodes that have not joined. */
    record ReportMissing<N>(List<String> names) implements MembershipCommand<N> {
    }

    /** Order a node to obey no earlier coordinator, and to ask again. */
    record Follow<N>(N node) implements MembershipCommand<N> {
    }

    /** Order a node to run its kernels once. */
    record RunKernels<N>(N node) implements MembershipCommand<N> {
    }

    /**
     * Begin the run by opening its directory. If that fails, {@link MembershipEvent.CannotBegin} is the next event, and the
     * commands after this one are void.
     *
     * @param warmUpSeconds the time of the slowest node's kernels
     */
    record Begin<N>(double warmUpSeconds) implements MembershipCommand<N> {
    }

    /**
     * Lead the run from now on, since its earlier coordinator was lost.
     *
     * @param settings the settings of the run, with the newest checkpoint that was written
     */
    record TakeOver<N>(RunSettings settings, CoordinatorFailover failover) implements MembershipCommand<N> {
    }

    /** Send a node the hosts of all ranks. */
    record Host<N>(N node) implements MembershipCommand<N> {
    }

    /**
     * Add a node to the run.
     *
     * @param versions for each rank, the commits (as steps done) of which the node has the complete state and from which the
     *     run may continue
     */
    record AddNode<N>(String name, Map<Integer, List<Long>> versions) implements MembershipCommand<N> {
        public AddNode {
            versions = FixedOrder.copyOf(versions);
        }
    }

    /** Continue in an epoch above this one, in which a joining node has been under an earlier coordinator. */
    record Outrun<N>(String name, int epoch) implements MembershipCommand<N> {
    }

    /** Restart every rank from the commit of {@link TakeOver}. */
    record Recover<N>(String reason) implements MembershipCommand<N> {
    }

    /** Report that a node has left. */
    record ReportGone<N>(String name) implements MembershipCommand<N> {
    }

    /** Report to the run that it has lost a node. */
    record LoseNode<N>(String name, String reason) implements MembershipCommand<N> {
    }

    /** End the run after the current step. */
    record StopAfterStep<N>() implements MembershipCommand<N> {
    }

    /** Refuse the run; no file was written. */
    record RefuseRun<N>(String why) implements MembershipCommand<N> {
    }

    /** End the run, with the reason if it failed. */
    record End<N>(Optional<String> failure) implements MembershipCommand<N> {
    }
}
