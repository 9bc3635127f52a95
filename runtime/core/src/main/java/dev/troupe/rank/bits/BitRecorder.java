package dev.troupe.rank.bits;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.digest.BitHash;
import dev.troupe.engine.digest.TensorDigest;
import dev.troupe.layer.Parameter;
import dev.troupe.partition.LayerRange;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.rank.bits.BitKey.What;
import dev.troupe.schedule.Plan;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.Stage;
import dev.troupe.stage.StageWatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The digests of one incarnation of a rank in the training step in progress, or in overlapping steps. An asynchronous engine
 * computes them itself; they are read at the next point at which the rank waits for the engine anyway. For other engines the
 * host computes them. No allocation during a step.
 *
 * <p>Thread rule: the rank's thread. {@link #takeFirst} and {@link #takeWeights} on the thread of the rank's actor, while
 * the rank does nothing of that step.
 */
public final class BitRecorder {
    private final int rank;
    private final BitLayout.Rank layout;
    /** Whether gradients are summed over ranks after each microbatch, so that a rank has none of its own. */
    private final boolean sharesGradients;
    private final Engine engine;
    private final TensorDigest host;
    private final boolean records;
    private final int microbatchesPerStep;
    // Overlapping steps use them alternately.
    private final Step[] steps;
    private Step current;
    /** The tensors of each stage, which never change. */
    private final Map<Stage, List<StateTensor>> weights = new IdentityHashMap<>();

    private final class Step {
        /** By place; {@link RankBits#NONE} if there is none. */
        private final long[] values;
        /** The digests from an asynchronous engine, in the order of the values; null for other engines. */
        private final Tensor digests;
        private final MemorySegment copy;
        private final BitSet unread = new BitSet();

        Step() {
            int count = layout.count();
            values = new long[count];
            digests = engine.computesLate() ? engine.allocate(DataType.INT32, Shape.of(count, 2)) : null;
            copy = digests == null ? null : Arena.ofAuto().allocate(digests.byteCount(), Long.BYTES);
        }

        void record(Tensor tensor, int place) {
            if (digests == null) {
                values[place] = host.of(tensor);
            } else {
                engine.digest(tensor, digests, place);
                unread.set(place);
            }
        }

        void read() {
            if (!unread.isEmpty()) {
                engine.copyToHost(digests, 0, copy);
                for (int place = unread.nextSetBit(0); place >= 0; place = unread.nextSetBit(place + 1)) {
                    values[place] = TensorDigest.read(copy, place);
                }
                unread.clear();
            }
        }
    }

    /** @param engine the rank's engine; if it computes nothing there are no digests */
    public BitRecorder(int rank, TrainingPlan plan, Engine engine) {
        this.rank = rank;
        this.layout = new BitLayout.Rank(plan, rank);
        this.sharesGradients = BitLayout.sharesGradients(plan);
        this.engine = engine;
        this.host = new TensorDigest(engine);
        this.records = engine.holdsValues() && layout.count() > 0;
        Plan rows = plan.training().plan();
        this.microbatchesPerStep = rows.microbatchesPerStep();
        // One more than overlap: the digests of a step are taken while the rank computes the next one.
        this.steps = new Step[plan.rows().overlap() ? plan.stepsAtOnce(rank) + 1 : 1];
        if (records) {
            Arrays.setAll(steps, _ -> new Step());
        }
        this.current = steps[0];
    }

    public void watch(Stage stage) {
        if (records) {
            stage.watchedBy(new Watch());
            weights.put(stage, stage.weights());
        }
    }

    /** Selects the step of the row for which outputs are recorded from now on. */
    public void enter(int stepInRow) {
        current = steps[stepInRow % steps.length];
    }

    private void record(What what, int layer, int microbatch, Tensor tensor) {
        current.record(tensor, layout.place(what, layer, microbatch % microbatchesPerStep));
    }

    private final class Watch implements StageWatch {
        @Override
        public void activation(int layer, int microbatch, Tensor output) {
            record(What.ACTIVATION, layer, microbatch, output);
        }

        @Override
        public void inputGradient(int layer, int microbatch, Tensor gradient) {
            record(What.GRADIENT, layer, microbatch, gradient);
        }

        @Override
        public void gradients(LayerRange layers, List<Parameter> parameters) {
            if (!sharesGradients) {
                for (int i = 0; i < parameters.size(); i++) {
                    Parameter parameter = parameters.get(i);
                    current.record(parameter.gradient(),
                            layout.place(What.WEIGHT_GRADIENT, layers, parameter.name()));
                }
            }
        }
    }

    /** Records the activation for a stage's first layer from another rank. */
    public void receivedActivation(Stage stage, int microbatch, Tensor activation) {
        if (records) {
            record(What.RECEIVED_ACTIVATION, stage.layers().first(), microbatch, activation);
        }
    }

    /** Records the gradient for the output of a stage's last layer from another rank. */
    public void receivedGradient(Stage stage, int microbatch, Tensor gradient) {
        if (records) {
            record(What.RECEIVED_GRADIENT, stage.layers().last(), microbatch, gradient);
        }
    }

    /** Records a loss, which the forward of the layer with the head has computed. */
    public void loss(Stage stage, int microbatch, double loss) {
        if (records) {
            current.values[layout.place(What.ACTIVATION, stage.layers().last(),
                    microbatch % microbatchesPerStep)] = BitHash.of(loss);
        }
    }

    public void finalGradients(Stage stage) {
        if (records && sharesGradients) {
            add(What.WEIGHT_GRADIENT, stage, stage.gradients());
        }
    }

    public void weights(Stage stage) {
        if (records) {
            add(What.WEIGHT, stage, weights.get(stage));
        }
    }

    private void add(What what, Stage stage, List<StateTensor> tensors) {
        for (int i = 0; i < tensors.size(); i++) {
            StateTensor named = tensors.get(i);
            current.record(named.tensor(), layout.place(what, stage.layers(), named.name()));
        }
    }

    /** Reads the requested digests of the step; waits for an asynchronous engine. */
    public void read() {
        if (records) {
            current.read();
        }
    }

    /** Returns and clears a step's digests from before its update. */
    public RankBits takeFirst(int stepInRow) {
        return take(stepInRow, 0, layout.firstOfWeights());
    }

    /** Returns and clears a step's digests of the updated weights. */
    public RankBits takeWeights(int stepInRow) {
        return take(stepInRow, layout.firstOfWeights(), layout.count());
    }

    private RankBits take(int stepInRow, int from, int to) {
        if (!records) {
            return new RankBits(rank, from, new long[0]);
        }
        long[] values = steps[stepInRow % steps.length].values;
        RankBits taken = new RankBits(rank, from, Arrays.copyOfRange(values, from, to));
        Arrays.fill(values, from, to, RankBits.NONE);
        return taken;
    }
}
