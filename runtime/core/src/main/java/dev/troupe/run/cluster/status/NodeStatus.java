package dev.troupe.run.cluster.status;

import java.util.List;
import java.util.Optional;

/**
 * The status of a node.
 *
 * @param progress the progress of the run; only the coordinator's node knows it
 * @param awaited the missing nodes without which the run cannot begin; only the coordinator's node knows them
 */
public record NodeStatus(String node, List<Integer> ranks, int epoch, Optional<Progress> progress,
        List<String> awaited) {
    /** The status of a node of an older version may lack new fields. */
    public NodeStatus {
        awaited = awaited == null ? List.of() : List.copyOf(awaited);
    }

    public static NodeStatus of(String node, List<Integer> ranks) {
        return new NodeStatus(node, ranks, 0, Optional.empty(), List.of());
    }

    /**
     * The progress of a run.
     *
     * @param loss the loss of the last step
     * @param tokensPerSecond the speed of the last step
     * @param notices sentences on causes of a slow run
     */
    public record Progress(long stepsDone, double loss, double tokensPerSecond, List<String> notices) {
        public Progress {
            notices = notices == null ? List.of() : List.copyOf(notices);
        }
    }

    public NodeStatus at(Progress now) {
        return new NodeStatus(node, ranks, epoch, Optional.of(now), List.of());
    }

    public NodeStatus in(int newEpoch) {
        return new NodeStatus(node, ranks, newEpoch, progress, awaited);
    }

    /** Returns the status in a run that waits for these nodes; empty if it begins. */
    public NodeStatus awaiting(List<String> missing) {
        return new NodeStatus(node, ranks, epoch, progress, missing);
    }
}
