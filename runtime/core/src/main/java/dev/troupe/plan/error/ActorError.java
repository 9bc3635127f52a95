package dev.troupe.plan.error;

/** The failure of an actor by an error, which is its cause. */
public final class ActorError extends RuntimeException {
    private static final long serialVersionUID = 1;

    public ActorError(Error error) {
        super(error.toString(), error);
    }
}
