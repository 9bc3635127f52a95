package dev.troupe.protocol.watch;

/**
 * The load of a machine at one moment.
 *
 * @param runnable the number of threads that run or wait for a core, the run's included
 */
public record MachineLoad(int runnable, int cores) {
    /** The most runnable threads of a rank: its own, and the carriers of its messages. */
    private static final int THREADS_OF_A_RANK = 2;
    private static final int OVERLOADED = 2;

    /** Returns whether work other than these ranks wants more than twice the number of cores. */
    boolean isOverloaded(int ranks) {
        return runnable - THREADS_OF_A_RANK * ranks > OVERLOADED * cores;
    }

    String inWords() {
        return "the machine itself is overloaded: " + runnable + " runnable threads for " + cores
                + (cores == 1 ? " core" : " cores");
    }
}
