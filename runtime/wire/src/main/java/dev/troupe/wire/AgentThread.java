package dev.troupe.wire;

import java.util.concurrent.TimeUnit;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.IdleStrategy;

/**
 * The thread of an agent, which works round by round and idles in between. It ends at the first error, unlike the thread of
 * Agrona's {@code AgentRunner}, and a wait for its end has a bound. {@link Agent#onStart} is not called.
 *
 * <p>Thread rule: any thread.
 */
public final class AgentThread {
    private final Agent agent;
    private final IdleStrategy idle;
    private final ErrorHandler onError;
    private final Thread thread;
    private volatile boolean isRunning = true;

    /**
     * @param agent has its {@link Agent#roleName} as the name of the thread; closed on it, after an error too
     * @param onError receives an error that ends the thread, before the agent is closed, and of one as it is closed; on
     *     the thread
     */
    public AgentThread(Agent agent, IdleStrategy idle, ErrorHandler onError) {
        this.agent = agent;
        this.idle = idle;
        this.onError = onError;
        this.thread = Thread.ofPlatform().name(agent.roleName()).daemon().unstarted(this::work);
    }

    public void start() {
        thread.start();
    }

    private void work() {
        try {
            while (isRunning) {
                idle.idle(agent.doWork());
            }
        } catch (Throwable error) {
            // An Error too: others wait for the agent's work.
            onError.onError(error);
        } finally {
            isRunning = false;
            close();
        }
    }

    private void close() {
        try {
            agent.onClose();
        } catch (Throwable error) {
            onError.onError(error);
        }
    }

    /** Whether the agent has not been stopped, and has not ended. */
    public boolean isRunning() {
        return isRunning;
    }

    /** Whether this is the thread of the caller. */
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /** Asks the thread to end after its round; the caller ends its rest. */
    public void stop() {
        isRunning = false;
    }

    /** Waits for the end of the thread; returns whether it has ended. */
    public boolean join(long timeoutSeconds) {
        return joinedInTime(thread, timeoutSeconds);
    }

    /** Waits for the end of a thread through interrupts, which are kept for the caller; returns whether it has ended. */
    public static boolean joinedInTime(Thread thread, long timeoutSeconds) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        boolean isInterrupted = false;
        while (thread.isAlive() && deadline - System.nanoTime() > 0) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, deadline - System.nanoTime());
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    /** The point in the code at which the thread is, for a message. */
    public String whereItIs() {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length == 0 ? "its end" : stack[0] + (stack.length > 1 ? ", called by " + stack[1] : "");
    }
}
