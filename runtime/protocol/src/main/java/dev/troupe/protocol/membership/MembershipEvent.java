package dev.troupe.protocol.membership;

import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.WarmUpReport;
import java.util.Map;
import java.util.Optional;

/**
 * An event of the membership of a run.
 *
 * @param <N> the identity of a node's process; two processes of one name are not equal
 */
public sealed interface MembershipEvent<N> {
    /**
     * A node asks to take part. It repeats the request until an answer comes, and while its kernels run.
     *
     * @param isLocal whether the node is in the coordinator's own process, so that it counts as a member at once
     * @param receiverId the number of the stream on which the node receives copies of snapshots; 0 for none
     * @param term the latest term that the node has received; 0 for none
     * @param report its report on the run, if it took part under a lost coordinator
     */
    record Joined<N>(N node, String name, boolean isLocal, int receiverId, Map<String, String> keys, int term,
            Optional<NodeReport> report,
            WarmUpReport warmUp) implements MembershipEvent<N> {
    }

    /**
     * The end of a node's process was reported.
     *
     * @param isCertain whether the report is certain. The cluster can wrongly report a process that rejoins under the
     *     address of another, until that process is a member.
     */
    record Ended<N>(N node, String name, boolean isCertain) implements MembershipEvent<N> {
    }

    /** The user asks for the end of the run: after the current step, or at once. */
    record StopAsked<N>(boolean atOnce) implements MembershipEvent<N> {
    }

    /** The directory of the run cannot be opened: the answer to {@link MembershipCommand.Begin}. */
    record CannotBegin<N>(String why) implements MembershipEvent<N> {
    }

    /** The launcher sees that a node is still starting, so the time for joining restarts. */
    record OthersStart<N>() implements MembershipEvent<N> {
    }

    /** Time has passed. */
    record Tick<N>() implements MembershipEvent<N> {
    }
}
