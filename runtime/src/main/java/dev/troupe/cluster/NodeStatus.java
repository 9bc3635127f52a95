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
 */
public record NodeStatus(String node, List<Integer> ranks, int epoch, Optional<Progress> progress) {
    /**
     * How far a run is.
     *
     * @param step
     *            the step that was committed last
     * @param loss
     *            its loss
     * @param tokensPerSecond
     *            its speed
     */
    public record Progress(long step, double loss, double tokensPerSecond) {
    }

    NodeStatus at(Progress now) {
        return new NodeStatus(node, ranks, epoch, Optional.of(now));
    }

    NodeStatus in(int newEpoch) {
        return new NodeStatus(node, ranks, newEpoch, progress);
    }
}
