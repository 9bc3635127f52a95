package dev.troupe.protocol.membership;

import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.WarmUpReport;
import java.util.Map;
import java.util.Optional;

/**
 * An event of the membership of a run.
 *
 * @param <N> a process of a node; two processes under one name are not equal
 */
public sealed interface MembershipEvent<N> {
    /**
     * A node asks to take part. It repeats this until it is answered, and while its kernels run.
     *
     * @param isLocal whether the node is in the coordinator's own process, so that the cluster need not report it as up
     * @param door the number of the stream on which the node's process receives copies of snapshots; 0 for none
     * @param keys its compatibility keys
     * @param term the latest term that the node has received; 0 for none
     * @param report its report on the run, if it took part under a lost coordinator
     * @param warmUp the progress of its kernels
     */
    record Joined<N>(N node, String name, boolean isLocal, int door, Map<String, String> keys, int term,
            Optional<NodeReport> report,
            WarmUpReport warmUp) implements MembershipEvent<N> {
    }

    /**
     * The end of a node's process was reported.
     *
     * @param isCertain whether the report can be believed at once. The cluster's report can be wrong for a process that
     *     rejoins under the address of another, until the cluster has that process as a member.
     */
    record Ended<N>(N node, String name, boolean isCertain) implements MembershipEvent<N> {
    }

    /** The user asks for the end of the run: after the current step, or at once. */
    record StopAsked<N>(boolean atOnce) implements MembershipEvent<N> {
    }

    /** The directory of the run cannot be opened, for the reason in this sentence; the answer to a begin. */
    record CannotBegin<N>(String why) implements MembershipEvent<N> {
    }

    /** A launcher sees that a node still starts: the time for joining begins anew. */
    record OthersStart<N>() implements MembershipEvent<N> {
    }

    /** Time has passed. */
    record Tick<N>() implements MembershipEvent<N> {
    }
}
