package dev.troupe.protocol.watch;

/**
 * The threads of a machine that run or wait for a core, at one moment.
 *
 * @param runnable their number, including the run's
 */
public record MachineLoad(int runnable, int cores) {
    /** The most runnable tasks of a rank: its own, and the carriers of its messages. */
    private static final int THREADS_OF_A_RANK = 2;
    private static final int OVERLOADED = 2;

    /** Returns whether other work than these ranks wants more than twice the cores. */
    boolean isOverloaded(int ranks) {
        return runnable - THREADS_OF_A_RANK * ranks > OVERLOADED * cores;
    }

    String inWords() {
        return "the machine itself is overloaded: " + runnable + " runnable threads for " + cores
                + (cores == 1 ? " core" : " cores");
    }
}
