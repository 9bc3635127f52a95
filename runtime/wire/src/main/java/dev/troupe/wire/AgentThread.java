package dev.troupe.wire;

import java.util.concurrent.TimeUnit;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.IdleStrategy;

/**
 * The thread of an agent, which works in rounds and idles in between. Unlike the thread of Agrona's {@code AgentRunner}, it
 * ends at the first error, and a wait for its end has a bound. {@link Agent#onStart} is not called.
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
     * @param agent its {@link Agent#roleName} names the thread, which also closes it
     * @param onError receives the error that ends the thread, before the agent is closed, and an error of the close; called
     *     on the thread
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
            // Catches each Throwable, since others wait for the agent's work.
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

    /** Returns whether the agent has neither been stopped nor ended. */
    public boolean isRunning() {
        return isRunning;
    }

    /** Returns whether the caller runs on this thread. */
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /** Asks the thread to end after its round; does not wake it. */
    public void stop() {
        isRunning = false;
    }

    /** Waits for the end of the thread; returns whether it ended in time. */
    public boolean join(long timeoutSeconds) {
        return joinedInTime(thread, timeoutSeconds);
    }

    /**
     * Waits for the end of a thread, also while the caller is interrupted; returns whether it ended in time. Interrupts are
     * kept.
     */
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

    /** Returns the thread's current point in the code, for a message. */
    public String whereItIs() {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length == 0 ? "its end" : stack[0] + (stack.length > 1 ? ", called by " + stack[1] : "");
    }
}
