package dev.troupe.engine;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A point in the work of an engine. It is reached when all calls before the fence are done, or, if a call returned the
 * fence, when that call's work is done.
 *
 * <p>Thread rule: any thread.
 *
 * <p>Errors: a failure before the fence is raised by each of the methods, as by every later call of the engine.
 */
public interface Fence {
    /** The fence of an engine that has finished its work when a call returns. */
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

    /** Whether the point is reached; never waits. A reached fence stays reached. */
    boolean isReached();

    /** Waits until the point is reached, at most for the engine's limit on any work. */
    void await();

    /**
     * Numbered marks in the work of an engine, with the times at which all earlier calls were done. On an engine that
     * computes late these are times of the device, not of the host. Freed with the engine.
     *
     * <p>Thread rule: any thread.
     *
     * <p>Errors: a failure before a mark is raised by each of the methods, as by every later call of the engine.
     */
    interface Instants {
        /**
         * Marks the point after all calls so far, in place of the last mark of this number. Never waits; allocates nothing
         * if the number was marked before.
         */
        void mark(int number);

        /**
         * The time at which the last mark of a number was reached, in nanoseconds of {@link System#nanoTime}; 0 if it is not
         * reached, or does not exist. Never waits for work of the engine.
         */
        long nanos(int number);

        /** Waits until the last mark of a number is reached, at most for the engine's limit on any work. */
        void await(int number);

        /**
         * Instants of an engine that has finished its work when a call returns.
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
