package dev.troupe.cli;

import dev.troupe.chaos.ChaosResult;
import dev.troupe.chaos.FaultOutcome;
import dev.troupe.fault.FiredFault;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** The faults of a run and what came of them, as columns of text; the report uses the same cells. */
final class ChaosTable {
    static final List<String> HEADINGS = List.of("fault", "struck at", "detected after", "restarted after",
            "caught up after");

    private ChaosTable() {
    }

    /** A line for each fault, columns aligned, and what the run as a whole lost and kept. */
    static String of(ChaosResult result) {
        return Columns.of(HEADINGS, result.faults().stream().map(ChaosTable::cells).toList()) + "\n\n"
                + summary(result);
    }

    /** What the run as a whole lost and kept, and whether the weights are equal. */
    static String summary(ChaosResult result) {
        return String.format(Locale.ROOT,
                "%d steps lost, %d times on from a checkpoint, %.1f %% of the throughput kept; %s",
                result.disturbed().stepsLost(), result.disturbed().resumed(), 100 * result.throughputKept(),
                result.difference().map(difference -> "not the same: " + difference)
                        .orElse("the same to the bit: every loss and every weight"));
    }

    static List<String> cells(FaultOutcome outcome) {
        return List.of(outcome.fault(), outcome.fired().map(ChaosTable::place).orElse("never"),
                millis(outcome.secondsToDetect()), millis(outcome.secondsToRestart()),
                millis(outcome.secondsToCatchUp()));
    }

    private static String place(FiredFault fired) {
        return "step " + fired.step() + ", stage " + fired.stage() + ", " + fired.point().word()
                + (fired.microbatch() < 0 ? "" : fired.microbatch()) + " on rank " + fired.rank();
    }

    private static String millis(OptionalDouble seconds) {
        return seconds.isPresent() ? String.format(Locale.ROOT, "%.0f ms", 1000 * seconds.getAsDouble()) : "-";
    }
}
