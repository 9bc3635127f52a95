package dev.troupe.look.chaos;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.rank.fault.FaultLog;
import dev.troupe.rank.fault.FiredFault;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The share of its throughput that a run kept under faults.
 *
 * <p>If each run has new processes, both runs compile their code, and they are compared as a whole. In one process the
 * second run finds the code compiled, so the disturbed run is its own baseline. Each step during a fault or its recovery is
 * compared with the median of the other steps.
 *
 * @param share the time without faults divided by the time with them, 1 if faults cost nothing; empty if there is no
 *     baseline
 */
public record KeptThroughput(Optional<Double> share, Basis basis) {
    /** The fewest steps with a meaningful median. */
    private static final int LEAST_UNTOUCHED = 3;

    public enum Basis {
        /** The whole undisturbed run, in processes that are as new. */
        UNDISTURBED_RUN("the undisturbed run"),
        /** The steps of the disturbed run without a fault. */
        OWN_STEPS("its own steps that no fault touched");

        private final String words;

        Basis(String words) {
            this.words = words;
        }

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

    /** Returns the run's time, with the median in place of each step with a fault. No fault makes a run faster. */
    private static Optional<Double> secondsWithoutFaults(RunRecord run) {
        List<Span> spans = spans(run);
        Map<Long, Long> commits = run.steps().stream()
                .collect(Collectors.groupingBy(CommittedStep::step, Collectors.counting()));
        List<CommittedStep> untouched = new ArrayList<>();
        long lostMillis = 0;
        long committedMillis = run.steps().getFirst().startedMillis();
        for (CommittedStep step : run.steps()) {
            Span betweenSteps = new Span(committedMillis, step.startedMillis());
            Span inStep = new Span(step.startedMillis(), step.committedMillis());
            lostMillis += betweenSteps.meets(spans) ? betweenSteps.millis() : 0;
            if (commits.get(step.step()) > 1 || inStep.meets(spans)) {
                lostMillis += inStep.millis();
            } else {
                untouched.add(step);
            }
            committedMillis = step.committedMillis();
        }
        if (untouched.size() < LEAST_UNTOUCHED) {
            return Optional.empty();
        }
        double[] seconds = untouched.stream().mapToDouble(CommittedStep::seconds).sorted().toArray();
        double median = (seconds[(seconds.length - 1) / 2] + seconds[seconds.length / 2]) / 2;
        double atMedian = median * (commits.size() - untouched.size());
        return Optional.of(Math.min(run.seconds(), run.seconds() - lostMillis / 1000.0 + atMedian));
    }

    /** A span of time, in milliseconds of the wall clock. */
    private record Span(long fromMillis, long toMillis) {
        long millis() {
            return Math.max(0, toMillis - fromMillis);
        }

        boolean meets(List<Span> others) {
            return others.stream().anyMatch(other -> fromMillis <= other.toMillis && other.fromMillis <= toMillis);
        }
    }

    /** Returns a span for each fault, until its effect is over. */
    private static List<Span> spans(RunRecord run) {
        List<Span> spans = new ArrayList<>();
        for (FiredFault fired : run.fired()) {
            FaultSpec fault = FaultSpec.parse(fired.fault(), FaultLog.FILE, run.directory().toString());
            double seconds = fault.kind() == FaultKind.CLOCK_JUMP ? 0 : fault.seconds(); // no time passes in a jump
            spans.add(new Span(fired.timeMillis(), fired.timeMillis() + Math.round(1000 * seconds)));
        }
        run.recoveries().forEach(recovery -> spans.add(
                new Span(recovery.detectedAtMillis(), recovery.caughtUpAtMillis())));
        return spans;
    }
}
