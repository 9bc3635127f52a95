package dev.troupe.cli;

/** What the command tells the shell. */
final class ExitCode {
    static final int DONE = 0;
    static final int RUN_FAILED = 1;
    /** Nothing was started, nothing written. */
    static final int WRONG_REQUEST = 2;
    /** What a shell reports of a program that was interrupted: 128 + SIGINT. */
    static final int INTERRUPTED = 130;

    private ExitCode() {
    }
}
