package dev.troupe.schedule;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The channels between the stages of a plan. Each flow has at most one channel into a stage and one out of it, so that one
 * end of a message names the other. Immutable.
 */
public final class StageGraph {
    /** The index that means no stage. */
    public static final int NONE = -1;

    private final List<Channel> channels;
    // By flow and stage.
    private final int[][] targets;
    private final int[][] sources;

    /** The kind of tensor that travels on a channel. */
    public enum Flow {
        /** Activations along the channel, and the gradients for them back. */
        ACTIVATIONS,
        /** The gradient of a parameter that both stages have. */
        SHARED
    }

    /**
     * A connection from one stage to another.
     * @param to the receiving stage; equal to {@code from} if one stage uses a parameter twice
     */
    public record Channel(int from, int to, Flow flow) {
    }

    /**
     * Creates the graph of these channels.
     * @throws PlanException if a channel leads to no stage, or a stage has two of a flow in one direction
     */
    public StageGraph(int stageCount, List<Channel> channels) {
        this.channels = List.copyOf(channels);
        this.targets = new int[Flow.values().length][stageCount];
        this.sources = new int[Flow.values().length][stageCount];
        for (Flow flow : Flow.values()) {
            Arrays.fill(targets[flow.ordinal()], NONE);
            Arrays.fill(sources[flow.ordinal()], NONE);
        }
        channels.forEach(this::add);
    }

    private void add(Channel channel) {
        int[] to = targets[channel.flow().ordinal()];
        int[] from = sources[channel.flow().ordinal()];
        if (Math.min(channel.from(), channel.to()) < 0 || Math.max(channel.from(), channel.to()) >= to.length
                || to[channel.from()] != NONE || from[channel.to()] != NONE) {
            throw new PlanException("A graph of " + to.length + " stages has no room for the channel from stage "
                    + channel.from() + " to stage " + channel.to() + ": a channel leads between stages, and a stage has"
                    + " one of a flow in each direction.");
        }
        to[channel.from()] = channel.to();
        from[channel.to()] = channel.from();
    }

    /** Returns the graph in which every stage sends its activations to the next one, and no parameter is shared. */
    public static StageGraph chain(int stageCount) {
        List<Channel> channels = new ArrayList<>();
        for (int stage = 1; stage < stageCount; stage++) {
            channels.add(new Channel(stage - 1, stage, Flow.ACTIVATIONS));
        }
        return new StageGraph(stageCount, channels);
    }

    public StageGraph with(List<Channel> more) {
        List<Channel> all = new ArrayList<>(channels);
        all.addAll(more);
        return new StageGraph(targets[0].length, all);
    }

    /** Returns the stage to which a flow goes from a stage; {@link #NONE} if it ends there. */
    public int target(Flow flow, int stage) {
        return targets[flow.ordinal()][stage];
    }

    /** Returns the stage from which a flow comes to a stage; {@link #NONE} if it begins there. */
    public int source(Flow flow, int stage) {
        return sources[flow.ordinal()][stage];
    }

    /**
     * Returns the stage at the other end of a message; {@link #NONE} if there is none.
     *
     * @throws IllegalStateException if the action is no message
     */
    public int peerStage(Action message) {
        Kind kind = message.kind();
        return switch (kind) {
            case SEND_F, RECV_B -> target(Flow.ACTIVATIONS, message.stage());
            case RECV_F, SEND_B -> source(Flow.ACTIVATIONS, message.stage());
            case SEND_SHARED -> target(Flow.SHARED, message.stage());
            case RECV_SHARED -> source(Flow.SHARED, message.stage());
            default -> throw new IllegalStateException(message + " is no message and has no other end.");
        };
    }

    /**
     * Returns the other end of a message: {@code 2RECV_F0} for {@code 1SEND_F0} of a chain.
     *
     * @throws IllegalStateException if the action is no message, or has no other end
     */
    public Action peer(Action message) {
        int peer = peerStage(message);
        if (peer == NONE) {
            throw new IllegalStateException("no channel leads on from " + message);
        }
        return new Action(peer, message.kind().otherEnd(), message.microbatch());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StageGraph that && channels.equals(that.channels);
    }

    @Override
    public int hashCode() {
        return channels.hashCode();
    }

    @Override
    public String toString() {
        return channels.toString();
    }
}
