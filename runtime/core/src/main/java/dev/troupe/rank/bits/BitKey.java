package dev.troupe.rank.bits;

/**
 * The key of a digest, independent of stages and schedule: two runs with equal bits have equal digests for their common
 * keys.
 *
 * @param microbatch its number in the step over all pipelines; {@link #NONE} for gradients and values of parameters
 * @param layer the layer of the model, by its number
 * @param tensor the parameter's name; empty for an activation or its gradient
 * @param data the data rank of the gradient or value of a parameter; {@link #NONE} for an output of a microbatch
 * @param tensorRank the place in the tensor-parallel group
 */
public record BitKey(What what, int microbatch, int layer, String tensor, int data, int tensorRank) {
    public static final int NONE = -1;

    /** The kinds of output, in their order in a step. */
    public enum What {
        /** The activation that a rank has received for its first layer. */
        RECEIVED_ACTIVATION("RECV_F"),
        /** The activation after a layer; for the head, the loss. */
        ACTIVATION("F"),
        /** The gradient that a rank has received for the output of its last layer. */
        RECEIVED_GRADIENT("RECV_B"),
        /** The gradient for the input of a layer. */
        GRADIENT("I"),
        /** The gradient of a parameter. If ranks with the same weights sum gradients once in a step: before that sum. */
        WEIGHT_GRADIENT("W"),
        /** A parameter after the update. */
        WEIGHT("UPDATE");

        private final String action;

        What(String action) {
            this.action = action;
        }

        /** Returns the action that makes the output, as plans write it. */
        public String action() {
            return action;
        }

        public boolean isPerMicrobatch() {
            return this != WEIGHT_GRADIENT && this != WEIGHT;
        }
    }
}
