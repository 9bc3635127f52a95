package dev.troupe.look.chaos;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.plan.FaultWords;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Faults drawn from a seed. The times between them are exponentially distributed, as for independent failures, and each has
 * a random kind, stage and microbatch. The same arguments draw the same faults.
 */
public final class RandomFaults {
    /** Kinds that a run in one process survives. */
    private static final List<FaultKind> OF_ONE_PROCESS = List.of(FaultKind.EXCEPTION, FaultKind.OUT_OF_MEMORY,
            FaultKind.HANG, FaultKind.STOP_SCHEDULE_ACTOR, FaultKind.SLOW);
    /** Further kinds if there are several ranks. */
    private static final List<FaultKind> OF_MESSAGES = List.of(FaultKind.DROP, FaultKind.CORRUPT, FaultKind.DUPLICATE,
            FaultKind.REORDER, FaultKind.DELAY);
    /** Further kinds if there are several nodes. */
    private static final List<FaultKind> OF_NODES = List.of(FaultKind.EXIT, FaultKind.KILL, FaultKind.FREEZE);

    private RandomFaults() {
    }

    /**
     * Draws the faults of a run.
     *
     * @param meanSeconds the mean time between two faults
     * @param hasNodes whether the run has nodes with processes that may end
     * @param places the places of the run: stages, steps and microbatches
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
     * The places at which faults of a run may strike.
     *
     * @param messages the messages of each stage to another rank, for each microbatch
     */
    public record Places(int stages, int steps, int microbatches, List<Sent> messages) {
        public Places {
            messages = List.copyOf(messages);
        }

        public static Places of(TrainingPlan plan, int steps) {
            Plan actions = plan.training().plan();
            return new Places(actions.stageCount(), steps, actions.microbatchesPerStep(),
                    actions.rows().stream().flatMap(List::stream)
                            .filter(action -> action.kind().isSend() && plan.needsMessage(action))
                            .map(action -> new Sent(action.stage(), FaultWords.contentOf(action.kind()))).distinct()
                            .sorted(Comparator.comparingInt(Sent::stage).thenComparing(Sent::message)).toList());
        }
    }

    public record Sent(int stage, FaultMessage message) {
        private String words() {
            return "stage=" + stage + " message=" + message.word();
        }
    }

    private static double gap(Random random, double meanSeconds) {
        return -Math.log(1 - random.nextDouble()) * meanSeconds;
    }
}
