package dev.troupe.wire;

import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;

/**
 * The queue of commands from other threads to an agent, which rests while the queue is empty.
 *
 * <p>Thread rule: any thread puts commands in and wakes the agent; the agent's thread takes them and rests. After its end
 * any thread may take the remaining commands, one thread at a time.
 *
 * @param <C> the type of the commands
 */
public final class Mailbox<C> {
    private final ManyToOneConcurrentLinkedQueue<C> commands = new ManyToOneConcurrentLinkedQueue<>();
    private final Rest rest;
    private volatile boolean isResting;

    public Mailbox(Rest rest) {
        this.rest = rest;
    }

    /** Puts a command in, and wakes the agent if it rests. */
    public void put(C command) {
        commands.offer(command);
        if (isResting) {
            rest.wake();
        }
    }

    /** Takes the oldest command, or returns null. */
    public C poll() {
        return commands.poll();
    }

    /** Ends the agent's rest or prevents its next one, unless the agent has never rested. */
    public void wake() {
        rest.wake();
    }

    /**
     * Rests until a command arrives, the agent is woken, or the time is over.
     *
     * @param watchesConnections whether a watched connection that is ready ends the rest too; the rest then has whole
     *     milliseconds
     */
    public void rest(long nanos, boolean watchesConnections) {
        rest.begin();
        // Set before the queue is read, as put() reads it after its offer, so that at least one of them sees the other's
        // change.
        isResting = true;
        if (commands.isEmpty()) {
            rest.during(nanos, watchesConnections);
        }
        isResting = false;
    }
}
