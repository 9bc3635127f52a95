package dev.troupe.cli.stop;

/** What the command tells the shell. */
public final class ExitCode {
    public static final int DONE = 0;
    public static final int RUN_FAILED = 1;
    /** Nothing was started, nothing written. */
    public static final int WRONG_REQUEST = 2;
    /** Stopped before its end, by a signal or whoever launched it; the same in every process of a run. */
    public static final int STOPPED = 3;

    private ExitCode() {
    }
}
