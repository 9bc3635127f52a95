package dev.troupe.chaos;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.fault.FaultLog;
import dev.troupe.fault.FiredFault;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * How much of its speed a run kept under faults.
 *
 * <p>Processes that start anew for each run compile their code anew, so that two such runs compare whole. In one process
 * the second run finds compiled what the first one compiled; there the disturbed run is its own measure: each step that
 * a fault or its recovery touched stands against the median of those that none did.
 *
 * @param share
 *            the time without faults over the time with them, 1 where they cost nothing; empty where no step serves as
 *            a measure
 * @param basis
 *            what it was held against
 */
public record KeptThroughput(Optional<Double> share, Basis basis) {
    /** Fewer steps have no median worth the name. */
    private static final int LEAST_UNTOUCHED = 3;

    /** What a disturbed run is held against. */
    public enum Basis {
        /** The whole of the undisturbed run, in processes as new as its own. */
        UNDISTURBED_RUN("the undisturbed run"),
        /** Its own steps that no fault touched. */
        OWN_STEPS("its own steps that no fault touched");

        private final String words;

        Basis(String words) {
            this.words = words;
        }

        /** In words, to stand behind "against". */
        public String words() {
            return words;
        }
    }

    static KeptThroughput of(RunRecord undisturbed, RunRecord disturbed, Basis basis) {
        if (disturbed.seconds() == 0 || !undisturbed.losses().keySet().equals(disturbed.losses().keySet())) {
            return new KeptThroughput(Optional.empty(), basis);
        }
        Optional<Double> without = switch (basis) {
            case UNDISTURBED_RUN -> Optional.of(undisturbed.seconds());
            case OWN_STEPS -> secondsWithoutFaults(disturbed);
        };
        return new KeptThroughput(without.map(seconds -> seconds / disturbed.seconds()), basis);
    }

    /** What the run would have taken with the median step wherever a fault touched one. No fault makes a run faster. */
    private static Optional<Double> secondsWithoutFaults(RunRecord run) {
        List<Span> spans = spans(run);
        Map<Long, Long> commits = run.steps().stream()
                .collect(Collectors.groupingBy(CommittedStep::step, Collectors.counting()));
        List<CommittedStep> untouched = new ArrayList<>();
        long lostMillis = 0;
        long behindMillis = run.steps().getFirst().startedMillis();
        for (CommittedStep step : run.steps()) {
            Span betweenSteps = new Span(behindMillis, step.startedMillis());
            Span inStep = new Span(step.startedMillis(), step.committedMillis());
            lostMillis += betweenSteps.meets(spans) ? betweenSteps.millis() : 0;
            if (commits.get(step.step()) > 1 || inStep.meets(spans)) {
                lostMillis += inStep.millis();
            } else {
                untouched.add(step);
            }
            behindMillis = step.committedMillis();
        }
        if (untouched.size() < LEAST_UNTOUCHED) {
            return Optional.empty();
        }
        double[] seconds = untouched.stream().mapToDouble(CommittedStep::seconds).sorted().toArray();
        double median = (seconds[(seconds.length - 1) / 2] + seconds[seconds.length / 2]) / 2;
        double atMedian = median * (commits.size() - untouched.size());
        return Optional.of(Math.min(run.seconds(), run.seconds() - lostMillis / 1000.0 + atMedian));
    }

    /** Some time, in milliseconds of the wall clock. */
    private record Span(long fromMillis, long toMillis) {
        long millis() {
            return Math.max(0, toMillis - fromMillis);
        }

        boolean meets(List<Span> others) {
            return others.stream().anyMatch(other -> fromMillis <= other.toMillis && other.fromMillis <= toMillis);
        }
    }

    /** From each fault until what it did is over. */
    private static List<Span> spans(RunRecord run) {
        List<Span> spans = new ArrayList<>();
        for (FiredFault fired : run.fired()) {
            FaultSpec fault = FaultSpec.parse(fired.fault(), FaultLog.FILE, run.directory().toString());
            double seconds = fault.kind() == FaultKind.CLOCK_JUMP ? 0 : fault.seconds(); // there no time passes
            spans.add(new Span(fired.timeMillis(), fired.timeMillis() + Math.round(1000 * seconds)));
        }
        run.recoveries().forEach(recovery -> spans.add(
                new Span(recovery.detectedAtMillis(), recovery.caughtUpAtMillis())));
        return spans;
    }
}
