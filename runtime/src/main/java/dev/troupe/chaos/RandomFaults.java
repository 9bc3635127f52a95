package dev.troupe.chaos;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.config.fault.FaultSpec;
import java.util.ArrayList;
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
            FaultKind.HANG, FaultKind.STOP_SCHEDULE_ACTOR, FaultKind.SLOW, FaultKind.DROP, FaultKind.CORRUPT,
            FaultKind.DUPLICATE, FaultKind.REORDER, FaultKind.DELAY);
    /** What a node may meet besides. */
    private static final List<FaultKind> OF_NODES = List.of(FaultKind.EXIT, FaultKind.KILL, FaultKind.FREEZE);

    private RandomFaults() {
    }

    /**
     * Draws the faults of a run.
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
        if (hasNodes) {
            kinds.addAll(OF_NODES);
        }
        List<FaultSpec> faults = new ArrayList<>();
        double seconds = gap(random, meanSeconds);
        while (seconds / stepSeconds < places.steps()) {
            FaultKind kind = kinds.get(random.nextInt(kinds.size()));
            faults.add(FaultSpec.parse(String.format(Locale.ROOT, "%s stage=%d step=%d microbatch=%d", kind.word(),
                    stage(random, kind, places), (long) (seconds / stepSeconds), random.nextInt(places.microbatches())),
                    "--random", "seed " + seed));
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
     */
    public record Places(int stages, int steps, int microbatches) {
    }

    private static int stage(Random random, FaultKind kind, Places places) {
        int stage = random.nextInt(places.stages());
        // A message's stage is its sender; in a pipeline of one stage there is none, and the fault never strikes.
        return kind.reach() == FaultKind.Reach.MESSAGE ? Math.min(stage, Math.max(0, places.stages() - 2)) : stage;
    }

    private static double gap(Random random, double meanSeconds) {
        return -Math.log(1 - random.nextDouble()) * meanSeconds;
    }
}
