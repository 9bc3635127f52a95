package dev.troupe.membership;

import dev.troupe.machine.NodeReport;
import dev.troupe.machine.WarmUpReport;
import java.util.Map;
import java.util.Optional;

/**
 * What happens to the membership of a run.
 *
 * @param <N>
 *            a process of a node; two processes under one name are not equal
 */
public sealed interface MembershipEvent<N> {
    /**
     * A node asks to take part. A node repeats this until it is answered, and while its kernels run.
     *
     * @param isLocal
     *            whether the node is of the coordinator's own process, and so needs no word of the cluster that it is up
     * @param door
     *            the number of the stream on which the node's process receives copies of snapshots; 0 for none
     * @param keys
     *            its compatibility keys
     * @param report
     *            what it knows of the run, where it took part under a coordinator that is lost
     * @param warmUp
     *            how far it is with its kernels
     */
    record Joined<N>(N node, String name, boolean isLocal, int door, Map<String, String> keys,
            Optional<NodeReport> report,
            WarmUpReport warmUp) implements MembershipEvent<N> {
    }

    /**
     * The end of a node's process was told.
     *
     * @param isCertain
     *            whether the word can be believed at once. The word of the cluster can be wrong of a process that came
     *            back under the address of another, until the cluster has that process as a member.
     */
    record Ended<N>(N node, String name, boolean isCertain) implements MembershipEvent<N> {
    }

    /** The user asks for the end of the run: after the step under way, or at once. */
    record StopAsked<N>(boolean atOnce) implements MembershipEvent<N> {
    }

    /** The directory of the run cannot be opened, for the reason in this sentence; the answer to a begin. */
    record CannotBegin<N>(String why) implements MembershipEvent<N> {
    }

    /** Time has passed. */
    record Tick<N>() implements MembershipEvent<N> {
    }
}
