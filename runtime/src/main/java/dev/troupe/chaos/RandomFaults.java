package dev.troupe.chaos;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.fault.Carried;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Faults drawn from a seed: one after a time that is exponentially distributed, as failures of machines that know nothing of
 * each other are, each of a kind, stage and microbatch at random. The same arguments draw the same faults.
 */
public final class RandomFaults {
    /** What a run in one process goes on from. */
    private static final List<FaultKind> OF_ONE_PROCESS = List.of(FaultKind.EXCEPTION, FaultKind.OUT_OF_MEMORY,
            FaultKind.HANG, FaultKind.STOP_SCHEDULE_ACTOR, FaultKind.SLOW);
    /** What one of several ranks may meet besides. */
    private static final List<FaultKind> OF_MESSAGES = List.of(FaultKind.DROP, FaultKind.CORRUPT, FaultKind.DUPLICATE,
            FaultKind.REORDER, FaultKind.DELAY);
    /** What a node may meet besides. */
    private static final List<FaultKind> OF_NODES = List.of(FaultKind.EXIT, FaultKind.KILL, FaultKind.FREEZE);

    private RandomFaults() {
    }

    /**
     * DropoutKeys the faults of a run.
     *
     * @param meanSeconds
     *            the mean time between two
     * @param stepSeconds
     *            the time of a step
     * @param hasNodes
     *            whether whole processes may die
     * @param places
     *            of the run: stages, steps and microbatches
     */
    public static List<FaultSpec> draw(long seed, double meanSeconds, double stepSeconds, boolean hasNodes,
            Places places) {
        Random random = new Random(seed);
        List<FaultKind> kinds = new ArrayList<>(OF_ONE_PROCESS);
        if (!places.messages().isEmpty()) {
            kinds.addAll(OF_MESSAGES);
        }
        if (hasNodes) {
            kinds.addAll(OF_NODES);
        }
        List<FaultSpec> faults = new ArrayList<>();
        double seconds = gap(random, meanSeconds);
        while (seconds / stepSeconds < places.steps()) {
            FaultKind kind = kinds.get(random.nextInt(kinds.size()));
            String place = kind.reach() == FaultKind.Reach.MESSAGE
                    ? places.messages().get(random.nextInt(places.messages().size())).words()
                    : "stage=" + random.nextInt(places.stages());
            faults.add(FaultSpec.parse(String.format(Locale.ROOT, "%s %s step=%d microbatch=%d", kind.word(), place,
                    (long) (seconds / stepSeconds), random.nextInt(places.microbatches())), "--random",
                    "seed " + seed));
            seconds += gap(random, meanSeconds);
        }
        return faults;
    }

    /**
     * Where faults of a run may strike.
     *
     * @param stages
     *            how many there are
     * @param steps
     *            of the run
     * @param microbatches
     *            of each pipeline
     * @param messages
     *            what each stage sends to another rank, for each microbatch
     */
    public record Places(int stages, int steps, int microbatches, List<Sent> messages) {
        public Places {
            messages = List.copyOf(messages);
        }

        /** Those of a run that does so many steps by a plan. */
        public static Places of(TrainingPlan plan, int steps) {
            Plan actions = plan.training().plan();
            return new Places(actions.stageCount(), steps, actions.microbatchCount(),
                    actions.rows().stream().flatMap(List::stream)
                            .filter(action -> action.kind().isSend() && plan.needsMessage(action))
                            .map(action -> new Sent(action.stage(), Carried.by(action.kind()))).distinct()
                            .sorted(Comparator.comparingInt(Sent::stage).thenComparing(Sent::message)).toList());
        }
    }

    /** A message of a stage. */
    public record Sent(int stage, FaultMessage message) {
        private String words() {
            return "stage=" + stage + " message=" + message.word();
        }
    }

    private static double gap(Random random, double meanSeconds) {
        return -Math.log(1 - random.nextDouble()) * meanSeconds;
    }
}
