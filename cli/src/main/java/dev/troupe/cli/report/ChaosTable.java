package dev.troupe.cli.report;

import dev.troupe.look.chaos.ChaosResult;
import dev.troupe.look.chaos.FaultOutcome;
import dev.troupe.look.chaos.KeptThroughput;
import dev.troupe.rank.fault.FiredFault;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/** The faults of a run and their effects, as columns of text; the report uses the same cells. */
public final class ChaosTable {
    static final List<String> HEADINGS = List.of("fault", "struck at", "detected after", "restarted after",
            "caught up after");

    private ChaosTable() {
    }

    /**
     * Returns a line for each fault, columns aligned, then the faults that did not strike and why, and the losses of
     * the whole run.
     */
    public static String of(ChaosResult result) {
        return Columns.of(HEADINGS, result.faults().stream().map(ChaosTable::cells).toList()) + "\n\n"
                + reasons(result).stream().map(reason -> reason + "\n").collect(Collectors.joining())
                + summary(result);
    }

    /** Returns a sentence for each fault that did not strike. */
    static List<String> reasons(ChaosResult result) {
        return result.faults().stream().flatMap(outcome -> outcome.missed().stream()
                .map(missed -> '"' + outcome.fault() + "\" did not strike: " + missed.reason())).toList();
    }

    /** Returns the steps and the throughput that the run lost, and whether the weights are equal. */
    static String summary(ChaosResult result) {
        return String.format(Locale.ROOT, "%d steps lost, %d times resumed from a checkpoint, %s; %s%s",
                result.disturbed().stepsLost(), result.disturbed().resumed(), kept(result.kept()),
                result.difference().map(difference -> "not the same: " + difference)
                        .orElse("the same to the bit: every loss and every weight"),
                unproven(result.missed().size(), result.faults().size()));
    }

    private static String kept(KeptThroughput kept) {
        return kept.share().map(share -> String.format(Locale.ROOT, "%.1f %% of the throughput kept (against %s)",
                100 * share, kept.basis().words())).orElse("no measure of the throughput kept");
    }

    private static String unproven(int missed, int faults) {
        return missed == 0
                ? ""
                : ", but " + missed + " of " + faults + (faults == 1 ? " fault" : " faults")
                        + " did not strike";
    }

    static List<String> cells(FaultOutcome outcome) {
        return List.of(outcome.fault(), outcome.fired().map(ChaosTable::place).orElse("did not strike"),
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
