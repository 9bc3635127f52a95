package dev.troupe.engine;

import java.util.concurrent.atomic.AtomicLongArray;

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

    /**
     * Instants in the work of an engine, by numbers: when everything was done that had been asked of it where the number was
     * marked. They are of the device where the engine computes late, and not of the host that asked. Freed with the engine.
     *
     * <p>Thread rule: any thread.
     *
     * <p>Errors: what failed on the way to a mark is raised by each of the methods, as by every later call of the engine.
     */
    interface Instants {
        /**
         * Marks the point behind all that was asked so far, in place of the last mark of this number. Never waits; allocates
         * nothing where the number was marked before.
         */
        void mark(int number);

        /**
         * The instant at which the last mark of a number was reached, in nanoseconds of {@link System#nanoTime}; 0 where it
         * is not, or where there is none. Never waits for work of the engine.
         */
        long nanos(int number);

        /** Waits until the last mark of a number is reached, at most as long as the engine allows for any work. */
        void await(int number);

        /**
         * Those of an engine that has done what it was asked when a call returns.
         *
         * @param count the numbers are 0 .. count - 1
         */
        static Instants ofHost(int count) {
            AtomicLongArray nanos = new AtomicLongArray(count);
            return new Instants() {
                @Override
                public void mark(int number) {
                    nanos.set(number, System.nanoTime());
                }

                @Override
                public long nanos(int number) {
                    return nanos.get(number);
                }

                @Override
                public void await(int number) {
                    // There is nothing to wait for.
                }
            };
        }
    }
}
