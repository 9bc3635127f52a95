package dev.troupe.look.chaos;

import dev.troupe.config.fault.FaultSpec;
import dev.troupe.rank.fault.FiredFault;
import dev.troupe.run.news.Recovery;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The comparison of a disturbed run with the undisturbed one.
 *
 * @param undisturbed the run without faults
 * @param faults every requested fault: those that struck in the order of their strikes, then the others
 * @param difference the first difference as text; empty if every loss and every bit of the weights is equal
 * @param kept the share of its throughput that the disturbed run kept, over its whole length
 */
public record ChaosResult(RunRecord undisturbed, RunRecord disturbed, List<FaultOutcome> faults,
        Optional<String> difference, KeptThroughput kept) {
    public ChaosResult {
        faults = List.copyOf(faults);
    }

    /**
     * Compares two runs that are over.
     *
     * @param failure the reason why the disturbed run failed, if it did
     * @param weights the path of the weights in a run's directory
     * @param basis the baseline of the disturbed run's throughput
     */
    public static ChaosResult of(RunRecord undisturbed, RunRecord disturbed, AskedFaults asked,
            Optional<String> failure, Path weights, KeptThroughput.Basis basis) {
        Optional<String> difference = failure.map(why -> "the disturbed run failed: " + why)
                .or(() -> losses(undisturbed, disturbed))
                .or(() -> WeightComparison.firstDifference(undisturbed.directory().resolve(weights),
                        disturbed.directory().resolve(weights)));
        long lastStep = undisturbed.losses().keySet().stream().mapToLong(Long::longValue).max().orElse(-1);
        return new ChaosResult(undisturbed, disturbed, outcomes(disturbed, asked, lastStep), difference,
                KeptThroughput.of(undisturbed, disturbed, basis));
    }

    private static Optional<String> losses(RunRecord undisturbed, RunRecord disturbed) {
        Map<Long, Double> found = disturbed.losses();
        for (Map.Entry<Long, Double> expected : undisturbed.losses().entrySet()) {
            Double loss = found.get(expected.getKey());
            if (!expected.getValue().equals(loss)) {
                return Optional.of("step " + expected.getKey() + " has the loss " + expected.getValue()
                        + " undisturbed, and " + (loss == null ? "is not there" : loss.toString()) + " disturbed");
            }
        }
        return Optional.empty();
    }

    /**
     * Returns every fault with its effect. A recovery belongs to the last fault before its detection; several faults may
     * share one.
     */
    private static List<FaultOutcome> outcomes(RunRecord run, AskedFaults asked, long lastStep) {
        List<FaultOutcome> outcomes = new ArrayList<>();
        List<FiredFault> fired = run.fired().stream().sorted(Comparator.comparingLong(FiredFault::timeMillis))
                .toList();
        for (int i = 0; i < fired.size(); i++) {
            long from = fired.get(i).timeMillis();
            long to = i + 1 < fired.size() ? fired.get(i + 1).timeMillis() : Long.MAX_VALUE;
            outcomes.add(FaultOutcome.struck(fired.get(i), firstDetected(run.recoveries(), from, to)));
        }
        List<FaultSpec> all = asked.all();
        for (int index = 0; index < all.size(); index++) {
            int number = index;
            if (fired.stream().noneMatch(other -> other.index() == number)) {
                outcomes.add(FaultOutcome.missed(all.get(index).text(),
                        MissedFault.of(all.get(index), asked.isDrawn(index), run, lastStep)));
            }
        }
        return outcomes;
    }

    private static Optional<Recovery> firstDetected(List<Recovery> recoveries, long fromMillis, long toMillis) {
        return recoveries.stream().filter(recovery -> recovery.detectedAtMillis() >= fromMillis
                && recovery.detectedAtMillis() < toMillis).findFirst();
    }

    /** Returns whether losses and weights are the same as without faults. */
    public boolean isEqual() {
        return difference.isEmpty();
    }

    /** Returns the faults that were due and did not strike; each makes the comparison prove less. */
    public List<FaultOutcome> missed() {
        return faults.stream().filter(fault -> fault.missed().filter(MissedFault::wasDue).isPresent()).toList();
    }

    /** Returns whether every due fault struck, and losses and weights are the same as without faults. */
    public boolean isProven() {
        return isEqual() && missed().isEmpty();
    }
}
