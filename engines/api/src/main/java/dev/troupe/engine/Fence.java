package dev.troupe.engine;

/**
 * A point in the work of an engine. It is reached once the engine has done everything that had been asked of it when the
 * fence was made, or where a call of its own returned the fence, once that call's work is done.
 *
 * <p>Thread rule: any thread.
 *
 * <p>Errors: what failed on the way to the fence is raised by each of the methods, as by every later call of the engine.
 */
public interface Fence {
    /** The fence of an engine that has done what it was asked when a call returns. */
    Fence REACHED = new Fence() {
        @Override
        public boolean isReached() {
            return true;
        }

        @Override
        public void await() {
            // There is nothing to wait for.
        }
    };

    /** Whether the point is reached; never waits. Once reached it stays so. */
    boolean isReached();

    /** Waits until the point is reached, at most as long as the engine allows its device for any work. */
    void await();
}
