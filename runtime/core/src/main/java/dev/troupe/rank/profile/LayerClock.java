package dev.troupe.rank.profile;

import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.profile.LayerSamples;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.rank.warmup.StageAlone;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;

/**
 * Layers on one engine, each a stage alone, and a clock for their actions. A round is a microbatch: forwards through all
 * layers, then backwards, by I and W or by B alternately, and now and then an update.
 *
 * <p>Thread rule: one thread; close it before its engine.
 */
final class LayerClock implements AutoCloseable {
    /** A measurement on a thread of its own, by layer. */
    @FunctionalInterface
    interface Measurement extends Callable<Map<Integer, LayerSamples>> {
    }

    // Enough for the compiler of the JVM, and for samples of a second beyond that.
    private static final long WARM_UP_NANOS = 1_500_000_000L;
    private static final long MEASURE_NANOS = 3_000_000_000L;
    private static final int LEAST_ROUNDS = 6;
    private static final int MOST_ROUNDS = 2000;
    private static final int ROUNDS_OF_AN_UPDATE = 4;
    private static final Pass PASS = new Pass(0, Pass.Kind.TRAINING);
    /** Leaves weights of zero at zero. */
    private static final WeightUpdate NO_UPDATE = new WeightUpdate(0, 0, 1, 1, false);

    private final Engine engine;
    private final TrainingPlan plan;
    private final SequencedMap<Integer, StageAlone> stages = new TreeMap<>();
    private final Map<Integer, Long> kept = new HashMap<>();
    private final Map<Integer, Map<Kind, List<Long>>> times = new HashMap<>();

    /**
     * @param plan with one layer on each stage, and one stage on each place
     */
    LayerClock(TrainingPlan plan, List<Integer> layers, Engine engine, WorkClock clock) {
        this.engine = engine;
        this.plan = plan;
        for (int layer : layers) {
            stages.put(layer, new StageAlone(plan, layer * plan.ranksPerPlace(), layer, engine, clock));
            times.put(layer, new EnumMap<>(Kind.class));
        }
    }

    Map<Integer, LayerSamples> measure() {
        stages.keySet().forEach(this::keep);
        rounds(WARM_UP_NANOS);
        times.values().forEach(Map::clear);
        rounds(MEASURE_NANOS);
        Map<Integer, LayerSamples> samples = new HashMap<>();
        times.forEach((layer, nanos) -> samples.put(layer,
                new LayerSamples(kept.get(layer), plan.boundaryBytes(engine.computeType()), nanos)));
        return samples;
    }

    /** A second microbatch takes the memory that the forward keeps; all else is there from the first. */
    private void keep(int layer) {
        perform(layer, Kind.FORWARD, 0);
        long one = engine.allocatedBytes();
        perform(layer, Kind.FORWARD, 1);
        kept.put(layer, engine.allocatedBytes() - one);
        perform(layer, Kind.FULL_BACKWARD, 1);
        perform(layer, Kind.FULL_BACKWARD, 0);
    }

    private void rounds(long nanos) {
        long began = System.nanoTime();
        for (int round = 0; round < LEAST_ROUNDS
                || round < MOST_ROUNDS && System.nanoTime() - began < nanos; round++) {
            stages.sequencedKeySet().forEach(layer -> perform(layer, Kind.FORWARD, 0));
            boolean isWhole = round % 2 == 1;
            stages.sequencedKeySet().reversed().forEach(layer -> {
                perform(layer, isWhole ? Kind.FULL_BACKWARD : Kind.BACKWARD_INPUT, 0);
                if (!isWhole) {
                    perform(layer, Kind.BACKWARD_WEIGHT, 0);
                }
            });
            if (round % ROUNDS_OF_AN_UPDATE == 0) {
                stages.keySet().forEach(this::update);
            }
        }
    }

    private void update(int layer) {
        perform(layer, plan.row(Pass.Kind.TRAINING, layer * plan.ranksPerPlace()).actions().stream()
                .filter(action -> action.kind() == Kind.UPDATE).findFirst().orElseThrow());
    }

    private void perform(int layer, Kind kind, int microbatch) {
        perform(layer, new Action(layer, kind, microbatch));
    }

    private void perform(int layer, Action action) {
        long start = System.nanoTime();
        stages.get(layer).ops().perform(action, PASS, Optional.of(NO_UPDATE));
        engine.fence().await();
        times.get(layer).computeIfAbsent(action.kind(), _ -> new ArrayList<>()).add(System.nanoTime() - start);
    }

    @Override
    public void close() {
        stages.values().forEach(StageAlone::close);
    }
}
