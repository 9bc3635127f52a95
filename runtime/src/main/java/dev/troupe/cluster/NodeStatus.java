package dev.troupe.cluster;

import java.util.List;
import java.util.Optional;

/**
 * What a node says of itself.
 *
 * @param node
 *            its name
 * @param ranks
 *            the ranks it is to host
 * @param epoch
 *            the incarnation of the pipeline
 * @param progress
 *            how far the run is; only the node of the coordinator knows
 * @param awaited
 *            the nodes that the run cannot begin without and that have not joined; only the node of the coordinator knows
 */
public record NodeStatus(String node, List<Integer> ranks, int epoch, Optional<Progress> progress,
        List<String> awaited) {
    /** A status of a node of another version may lack what is new. */
    public NodeStatus {
        awaited = awaited == null ? List.of() : List.copyOf(awaited);
    }

    /** A node that has just come. */
    public static NodeStatus of(String node, List<Integer> ranks) {
        return new NodeStatus(node, ranks, 0, Optional.empty(), List.of());
    }

    /**
     * How far a run is.
     *
     * @param stepsDone
     *            the steps that were committed
     * @param loss
     *            of the last one
     * @param tokensPerSecond
     *            the speed of the last one
     * @param notices
     *            what makes the run slower than it was or could be, in sentences
     */
    public record Progress(long stepsDone, double loss, double tokensPerSecond, List<String> notices) {
        public Progress {
            notices = notices == null ? List.of() : List.copyOf(notices);
        }
    }

    /** The same node, so far. */
    public NodeStatus at(Progress now) {
        return new NodeStatus(node, ranks, epoch, Optional.of(now), List.of());
    }

    /** The same node in another epoch. */
    public NodeStatus in(int newEpoch) {
        return new NodeStatus(node, ranks, newEpoch, progress, awaited);
    }

    /** The same node, in a run that waits for others; for none, where it begins. */
    public NodeStatus awaiting(List<String> missing) {
        return new NodeStatus(node, ranks, epoch, progress, missing);
    }
}
