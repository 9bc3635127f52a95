package dev.troupe.cli.stop;

/** The exit codes of the command. */
public final class ExitCode {
    public static final int DONE = 0;
    public static final int RUN_FAILED = 1;
    /** Nothing was started, nothing written. */
    public static final int WRONG_REQUEST = 2;
    /**
     * The run was stopped before its end, by a signal or by the launcher; every process of a run exits with the same code.
     */
    public static final int STOPPED = 3;
    /**
     * The process of a node cannot use its device again, or its actors did not start in time, but another process may
     * succeed: EX_TEMPFAIL of sysexits.h. The other nodes and the launcher treat it as a killed process.
     */
    public static final int TRY_AGAIN = 75;

    private ExitCode() {
    }
}
