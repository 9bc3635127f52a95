package dev.troupe.cli;

/** What the command tells the shell. */
final class ExitCode {
    static final int DONE = 0;
    static final int RUN_FAILED = 1;
    /** Nothing was started, nothing written. */
    static final int WRONG_REQUEST = 2;
    /** Stopped before its end, by a signal or whoever launched it; the same in every process of a run. */
    static final int STOPPED = 3;

    private ExitCode() {
    }
}
