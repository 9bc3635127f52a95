package dev.troupe.config.spec;

/**
 * How a run can be watched.
 *
 * @param port
 *            the port of the loopback on which a run of one process serves its page; 0: none
 * @param tensorboard
 *            whether the run writes files for TensorBoard
 */
public record ObserveSpec(int port, boolean tensorboard) {
    /** Nobody watches. */
    public static final ObserveSpec NONE = new ObserveSpec(0, false);
}
