package dev.troupe.rank.bits;

import dev.troupe.plan.TrainingPlan;
import java.util.Arrays;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The digests of the steps in progress, collected from all ranks; if a rank repeats a step, it replaces its earlier digests.
 * Thread rule: the coordinator's thread.
 */
public final class StepsOfBits {
    private final TrainingPlan plan;
    private final int most;
    /** Made with the first digests; an engine that computes nothing has none. */
    private BitLayout layout;
    // By step, at most one for each step of a pass.
    private final TreeMap<Long, long[]> values = new TreeMap<>();
    private long[] spare;
    /** The earliest among the committed steps; null if there is none. */
    private NotFinite earliest;

    public StepsOfBits(TrainingPlan plan) {
        this.plan = plan;
        this.most = plan.stepsPerPass();
    }

    public void add(long ofStep, RankBits bits) {
        if (bits.values().length == 0) {
            return;
        }
        if (layout == null) {
            layout = BitLayout.of(plan);
        }
        long[] ofAll = values.computeIfAbsent(ofStep, _ -> empty());
        while (values.size() > most) { // of a pass that was given up
            boolean isFirstFurther = ofStep - values.firstKey() >= values.lastKey() - ofStep;
            spare = (isFirstFurther ? values.pollFirstEntry() : values.pollLastEntry()).getValue();
        }
        System.arraycopy(bits.values(), 0, ofAll, layout.start(bits.rank()) + bits.first(), bits.values().length);
    }

    private long[] empty() {
        long[] array = spare == null ? new long[layout.keys().size()] : spare;
        spare = null;
        Arrays.fill(array, RankBits.NONE);
        return array;
    }

    /**
     * Returns the first output that is not finite, in the committed steps and in those in progress; empty if all are finite.
     */
    public Optional<NotFinite> firstNotFinite() {
        return earliest == null
                ? values.keySet().stream().flatMap(step -> of(step).stream())
                        .flatMap(bits -> bits.firstNotFinite().map(key -> new NotFinite(bits.step(), key)).stream())
                        .findFirst()
                : Optional.of(earliest);
    }

    /** Commits a step. In a skipped step gradients may overflow, so it is not searched. */
    public void committed(long ofStep, boolean isSkipped) {
        if (!isSkipped && earliest == null) {
            earliest = of(ofStep).flatMap(StepBits::firstNotFinite).map(key -> new NotFinite(ofStep, key)).orElse(null);
        }
        long[] done = values.remove(ofStep);
        spare = done == null ? spare : done;
    }

    public record NotFinite(long step, BitKey output) {
    }

    /** Returns the digests of a step so far; empty if no rank has reported any. */
    public Optional<StepBits> of(long ofStep) {
        return Optional.ofNullable(values.get(ofStep)).map(ofAll -> new StepBits(ofStep, layout, ofAll.clone()));
    }
}
