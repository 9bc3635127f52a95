package dev.troupe.wire;

import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;

/**
 * The commands of other threads to an agent, and its rest while there are none.
 *
 * <p>Thread rule: any thread puts commands in and wakes the agent; the agent's thread takes them and rests. Once it has
 * ended, any thread may take what is left, one at a time.
 *
 * @param <C> the type of the commands
 */
public final class Mailbox<C> {
    private final ManyToOneConcurrentLinkedQueue<C> commands = new ManyToOneConcurrentLinkedQueue<>();
    private final Rest rest;
    private volatile boolean isResting;

    /** Creates a mailbox of commands that end a rest. */
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

    /** Takes the command that was put in first, or null. */
    public C poll() {
        return commands.poll();
    }

    /** Ends the agent's rest, or keeps it from the next one; one that has never rested may rest once. */
    public void wake() {
        rest.wake();
    }

    /**
     * Rests until there is a command, the agent is woken, or the time is over.
     *
     * @param watchesConnections whether a watched connection that is ready ends the rest too; it has whole milliseconds
     *     then
     */
    public void rest(long nanos, boolean watchesConnections) {
        rest.begin();
        // Set before the queue is read, as put() reads it after its offer: one of the two sees the other.
        isResting = true;
        if (commands.isEmpty()) {
            rest.during(nanos, watchesConnections);
        }
        isResting = false;
    }
}
