package dev.troupe.config.spec;

/**
 * How a run can be watched.
 *
 * @param port the port of the loopback on which a run of one process serves its page; 0: none
 * @param tensorboard whether the run writes files for TensorBoard
 * @param sampleTokens the tokens that the model writes on the terminal once it is trained; 0: none
 */
public record ObserveSpec(int port, boolean tensorboard, int sampleTokens) {
    /** Nobody watches. */
    public static final ObserveSpec NONE = new ObserveSpec(0, false, 0);
}
