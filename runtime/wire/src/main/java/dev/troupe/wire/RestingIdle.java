package dev.troupe.wire;

import org.agrona.concurrent.IdleStrategy;

/** An idle strategy of rests that a command ends. It begins again after each round with work. One thread. */
public abstract class RestingIdle implements IdleStrategy {
    private final Mailbox<?> mailbox;

    /** Creates a strategy that rests at a mailbox. */
    protected RestingIdle(Mailbox<?> mailbox) {
        this.mailbox = mailbox;
    }

    @Override
    public final void idle(int work) {
        if (work > 0) {
            reset();
        } else {
            idle();
        }
    }

    /** Rests as {@link Mailbox#rest} does. */
    protected final void rest(long nanos, boolean watchesConnections) {
        mailbox.rest(nanos, watchesConnections);
    }
}
