package dev.troupe.actor.supervision;

/** The failure of an actor by an error, which is its cause. */
public final class ActorError extends RuntimeException {
    private static final long serialVersionUID = 1;

    ActorError(Error error) {
        super(error.toString(), error);
    }
}
