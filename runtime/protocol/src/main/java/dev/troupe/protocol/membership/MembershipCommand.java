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
 * @param <N> a process of a node
 */
public sealed interface MembershipCommand<N> {
    /** Refuse a node, for the reason in this sentence. */
    record Refuse<N>(N node, String why) implements MembershipCommand<N> {
    }

    /** A node has joined. Watch its process, and report its end. */
    record Watch<N>(N node, String name) implements MembershipCommand<N> {
    }

    /** Watch a process again after a moment, and report its end as certain then. */
    record WatchAgain<N>(N node, String name) implements MembershipCommand<N> {
    }

    /** Report the nodes that have not joined. */
    record ReportMissing<N>(List<String> names) implements MembershipCommand<N> {
    }

    /** Have a node obey no earlier coordinator, and ask again. */
    record Follow<N>(N node) implements MembershipCommand<N> {
    }

    /** Have a node run its kernels once. */
    record RunKernels<N>(N node) implements MembershipCommand<N> {
    }

    /**
     * The run begins: open its directory. If that fails, {@link MembershipEvent.CannotBegin} is the next event, and the
     * commands after this one are void.
     *
     * @param warmUpSeconds the time of the slowest node's kernels
     */
    record Begin<N>(double warmUpSeconds) implements MembershipCommand<N> {
    }

    /**
     * The coordinator of the run was lost, and this one leads the run from now on.
     *
     * @param settings the settings of the run, with the newest checkpoint that was written
     */
    record TakeOver<N>(RunSettings settings, CoordinatorFailover failover) implements MembershipCommand<N> {
    }

    /** Send a node the nodes of all ranks. */
    record Host<N>(N node) implements MembershipCommand<N> {
    }

    /**
     * The run has another node.
     *
     * @param versions by rank, the steps after which it has all states of the rank, if the run may continue from them
     */
    record AddNode<N>(String name, Map<Integer, List<Long>> versions) implements MembershipCommand<N> {
        public AddNode {
            versions = FixedOrder.copyOf(versions);
        }
    }

    /** A node that joins a run in progress has been in an epoch of an earlier coordinator: continue in an epoch above it. */
    record Outrun<N>(String name, int epoch) implements MembershipCommand<N> {
    }

    /** Every rank starts again from the commit of {@link TakeOver}, for this reason. */
    record Recover<N>(String reason) implements MembershipCommand<N> {
    }

    /** A node has left; report it. */
    record ReportGone<N>(String name) implements MembershipCommand<N> {
    }

    /** The run has lost a node, for the reason in this sentence. */
    record LoseNode<N>(String name, String reason) implements MembershipCommand<N> {
    }

    /** End the run after the current step. */
    record StopAfterStep<N>() implements MembershipCommand<N> {
    }

    /** The run does not begin, for the reason in this sentence; no file was written. */
    record RefuseRun<N>(String why) implements MembershipCommand<N> {
    }

    /** The run ends, for the reason in this sentence if it failed. */
    record End<N>(Optional<String> failure) implements MembershipCommand<N> {
    }
}
