package dev.troupe.snapshot;

import dev.troupe.engine.Engine;
import dev.troupe.model.StateTensor;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The snapshots of a node's ranks: for each stage the state of the last commit, and the newer one that may not be committed
 * yet. They outlive the rank that took them.
 *
 * <p>Thread rule: any thread. {@link #close} after all ranks have ended.
 */
public final class Snapshots implements AutoCloseable {
    private record Key(int rank, int stage) {
    }

    /** Two, since the older one may still be needed while the newer one is written. */
    private static final class Pair {
        private Snapshot older;
        private Snapshot newer;
    }

    private final Map<Key, Pair> pairs = new ConcurrentHashMap<>();
    private final Arena arena = Arena.ofShared();

    /** How many times the bytes of a state are kept. */
    public static final int COPIES = 2;

    /**
     * Keeps what a stage is after so many steps.
     *
     * @param state
     *            always the same tensors of one stage
     */
    public void keep(int rank, int stage, long stepsDone, Engine engine, List<StateTensor> state) {
        Pair pair = pairs.computeIfAbsent(new Key(rank, stage), _ -> new Pair());
        synchronized (pair) {
            if (pair.newer != null && pair.newer.stepsDone() > stepsDone) {
                return; // of an incarnation that was given up long ago
            }
            // The same state again, or over one that broke off: the older one may be that of the last commit.
            boolean isAgain = pair.newer != null && (pair.newer.stepsDone() == stepsDone || pair.newer.isBroken());
            Snapshot target = isAgain ? pair.newer : pair.older;
            if (target == null) {
                target = new Snapshot(arena, state);
            }
            target.write(engine, state, stepsDone);
            if (!isAgain) {
                pair.older = pair.newer;
                pair.newer = target;
            }
        }
    }

    /** The state of a stage after so many steps, as its rank had it; empty where it is not kept. */
    public Optional<WeightSource> find(int rank, int stage, long stepsDone) {
        Pair pair = pairs.get(new Key(rank, stage));
        if (pair == null) {
            return Optional.empty();
        }
        synchronized (pair) {
            return Stream.of(Optional.ofNullable(pair.newer), Optional.ofNullable(pair.older))
                    .flatMap(Optional::stream)
                    .filter(snapshot -> snapshot.stepsDone() == stepsDone).map(WeightSource.class::cast).findFirst();
        }
    }

    /** Forgets what a rank has kept. */
    public void forget(int rank) {
        pairs.keySet().removeIf(key -> key.rank() == rank);
    }

    @Override
    public void close() {
        pairs.clear();
        arena.close();
    }
}
