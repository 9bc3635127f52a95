package dev.troupe.bits;

import dev.troupe.bits.BitKey.What;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.partition.LayerRange;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.Plan;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.Stage;
import dev.troupe.stage.StageWatch;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The digests of one incarnation of a rank in the training step under way, or in the steps that overlap. Nothing is
 * allocated while a step runs.
 *
 * <p>Thread rule: the rank's thread, but {@link #takeFirst} and {@link #takeWeights} on that of the rank's actor, while the
 * rank does nothing of that step.
 */
public final class BitRecorder implements AutoCloseable {
    private final int rank;
    private final BitLayout.Rank layout;
    /** Whether gradients are added up over ranks after each microbatch, so that a rank has none of its own. */
    private final boolean sharesGradients;
    private final TensorDigest digest;
    private final int microbatchesPerStep;
    // Steps that overlap take them in turn.
    private final long[][] steps;
    // In use.
    private long[] values;
    /** The tensors of each stage; the same always. */
    private final Map<Stage, List<StateTensor>> weights = new IdentityHashMap<>();

    /**
     * Creates the recorder of an incarnation of a rank.
     *
     * @param engine
     *            the rank's engine; where it computes nothing there are no digests, nor where it computes late: each
     *            would wait for all that was asked before
     */
    public BitRecorder(int rank, TrainingPlan plan, Engine engine) {
        this.rank = rank;
        this.layout = new BitLayout.Rank(plan, rank);
        this.sharesGradients = BitLayout.sharesGradients(plan);
        this.digest = engine.holdsValues() && !engine.computesLate() ? new TensorDigest(engine) : null;
        Plan rows = plan.training().plan();
        this.microbatchesPerStep = rows.microbatchesPerStep();
        // One more than overlap: the records of a step are taken while the rank computes the next one.
        this.steps = new long[rows.continues() ? plan.stepsAtOnce(rank) + 1 : 1][digest == null ? 0 : layout.count()];
        this.values = steps[0];
    }

    /** Has a stage's layers recorded. */
    public void watch(Stage stage) {
        if (digest != null) {
            stage.watchedBy(new Watch());
            weights.put(stage, stage.weights());
        }
    }

    /** What is recorded from now on is of this step among those of the row. */
    public void enter(int stepInRow) {
        values = steps[stepInRow % steps.length];
    }

    private int place(What what, int layer, int microbatch) {
        return layout.place(what, layer, microbatch % microbatchesPerStep);
    }

    private final class Watch implements StageWatch {
        @Override
        public void activation(int layer, int microbatch, Tensor output) {
            values[place(What.ACTIVATION, layer, microbatch)] = digest.of(output);
        }

        @Override
        public void inputGradient(int layer, int microbatch, Tensor gradient) {
            values[place(What.GRADIENT, layer, microbatch)] = digest.of(gradient);
        }

        @Override
        public void gradients(LayerRange layers, List<Parameter> parameters) {
            if (!sharesGradients) {
                for (int i = 0; i < parameters.size(); i++) {
                    Parameter parameter = parameters.get(i);
                    values[layout.place(What.WEIGHT_GRADIENT, layers, parameter.name())] = digest
                            .of(parameter.gradient());
                }
            }
        }
    }

    /** A stage has received the activation for its first layer from another rank. */
    public void receivedActivation(Stage stage, int microbatch, Tensor activation) {
        if (digest != null) {
            values[place(What.RECEIVED_ACTIVATION, stage.layers().first(), microbatch)] = digest.of(activation);
        }
    }

    /** A stage has received the gradient for the output of its last layer from another rank. */
    public void receivedGradient(Stage stage, int microbatch, Tensor gradient) {
        if (digest != null) {
            values[place(What.RECEIVED_GRADIENT, stage.layers().last(), microbatch)] = digest.of(gradient);
        }
    }

    /** The forward of the layer with the head has measured a loss. */
    public void loss(Stage stage, int microbatch, double loss) {
        if (digest != null) {
            values[place(What.ACTIVATION, stage.layers().last(), microbatch)] = BitHash.of(loss);
        }
    }

    /** The gradients of a stage are final. */
    public void finalGradients(Stage stage) {
        if (digest != null && sharesGradients) {
            add(What.WEIGHT_GRADIENT, stage, stage.gradients());
        }
    }

    /** A stage has the weights of the step after. */
    public void weights(Stage stage) {
        if (digest != null) {
            add(What.WEIGHT, stage, weights.get(stage));
        }
    }

    private void add(What what, Stage stage, List<StateTensor> tensors) {
        for (int i = 0; i < tensors.size(); i++) {
            StateTensor named = tensors.get(i);
            values[layout.place(what, stage.layers(), named.name())] = digest.of(named.tensor());
        }
    }

    /** Returns what is known before the update of a step of the row, and forgets it. */
    public RankBits takeFirst(int stepInRow) {
        long[] ofStep = steps[stepInRow % steps.length];
        return take(ofStep, 0, Math.min(ofStep.length, layout.firstOfWeights()));
    }

    /** Returns the digests of the weights after the update of a step of the row, and forgets them. */
    public RankBits takeWeights(int stepInRow) {
        long[] ofStep = steps[stepInRow % steps.length];
        return take(ofStep, Math.min(ofStep.length, layout.firstOfWeights()), ofStep.length);
    }

    private RankBits take(long[] ofStep, int from, int to) {
        RankBits taken = new RankBits(rank, from, Arrays.copyOfRange(ofStep, from, to));
        Arrays.fill(ofStep, from, to, RankBits.NONE);
        return taken;
    }

    /** The rank's thread has ended. */
    @Override
    public void close() {
        if (digest != null) {
            digest.close();
        }
    }
}
