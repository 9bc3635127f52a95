package dev.troupe.cli.progress;

import dev.troupe.cli.report.Terminal;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * The progress of a run: one line that is overwritten in a terminal, or plain lines at intervals.
 *
 * <p>Thread rule: any thread.
 */
final class ProgressLine {
    /** The interval in a terminal, at which a person can read. */
    private static final long TERMINAL_NANOS = 100_000_000L;
    /** The interval of plain lines, which a person reads in a log. */
    private static final long PLAIN_NANOS = 5_000_000_000L;

    private final PrintStream output;
    private final Terminal terminal;
    private final long stepCount;
    private final LongSupplier clock;
    /** The start of the estimate, after the first step, which includes the warm-up. */
    private long countedNanos;
    private long countedSteps = Long.MIN_VALUE;
    private long shownNanos;
    private int shownLength;

    ProgressLine(PrintStream output, Terminal terminal, long stepCount, LongSupplier clock) {
        this.output = output;
        this.terminal = terminal;
        this.stepCount = stepCount;
        this.clock = clock;
    }

    synchronized void start() {
        shownNanos = clock.getAsLong() - PLAIN_NANOS;
        countedSteps = Long.MIN_VALUE;
    }

    /**
     * Shows a step, if the interval is over.
     *
     * @param more text after the usual one; may be empty
     */
    synchronized void show(long stepsDone, double loss, double tokensPerSecond, String more) {
        long now = clock.getAsLong();
        if (countedSteps == Long.MIN_VALUE) {
            countedNanos = now;
            countedSteps = stepsDone;
        }
        boolean isLast = stepsDone == stepCount;
        if (!isLast && now - shownNanos < (terminal.isTerminal() ? TERMINAL_NANOS : PLAIN_NANOS)) {
            return;
        }
        shownNanos = now;
        String line = String.format(Locale.ROOT, "step %d/%d   loss %.4f   %,.0f tokens/s", stepsDone, stepCount, loss,
                tokensPerSecond) + left(stepsDone, now) + more;
        if (terminal.isTerminal()) {
            line = line.substring(0, Math.min(line.length(), terminal.lineColumns() - 1)); // a second line would remain
            output.print('\r' + line + " ".repeat(Math.max(0, shownLength - line.length())));
            shownLength = line.length();
        } else {
            output.println(line);
        }
        output.flush();
    }

    private String left(long stepsDone, long now) {
        if (stepsDone == countedSteps) {
            return "";
        }
        double secondsPerStep = (now - countedNanos) / 1e9 / (stepsDone - countedSteps);
        return "   " + duration(Math.round(secondsPerStep * (stepCount - stepsDone))) + " left";
    }

    /** Ends the line that is overwritten, so that other lines can follow. */
    synchronized void end() {
        if (shownLength > 0) {
            output.println();
            shownLength = 0;
        }
    }

    /**
     * Returns a stream for other output to the same terminal, such as the log; its output begins on a new line.
     */
    PrintStream shareTerminal(PrintStream stream) {
        return new PrintStream(new FilterOutputStream(stream) {
            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                synchronized (ProgressLine.this) {
                    end();
                    out.write(bytes, offset, length);
                    out.flush();
                }
            }
        }, true, StandardCharsets.UTF_8);
    }

    private static String duration(long seconds) {
        if (seconds < 60) {
            return seconds + " s";
        }
        long minutes = seconds / 60; // rounded down
        return minutes < 60 ? minutes + " min " + seconds % 60 + " s" : minutes / 60 + " h " + minutes % 60 + " min";
    }
}
