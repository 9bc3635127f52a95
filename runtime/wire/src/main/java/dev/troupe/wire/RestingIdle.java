package dev.troupe.wire;

import org.agrona.concurrent.IdleStrategy;

/** An idle strategy with rests that a command ends. Each round with work resets it. One thread. */
public abstract class RestingIdle implements IdleStrategy {
    private final Mailbox<?> mailbox;

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

    /** Rests; see {@link Mailbox#rest}. */
    protected final void rest(long nanos, boolean watchesConnections) {
        mailbox.rest(nanos, watchesConnections);
    }
}
