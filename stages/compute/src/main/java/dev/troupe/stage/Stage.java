package dev.troupe.stage;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Balance;
import dev.troupe.optimizer.BiasUpdates;
import dev.troupe.optimizer.OptimizerState;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.LayerRange;
import dev.troupe.partition.Partition;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import dev.troupe.weights.WeightSource;
import java.util.List;

/**
 * A slice of the model's layers: their forward, their backwards, their gradients and their optimizer.
 *
 * <p>A step is: for every microbatch {@link #forward}, {@link #backwardInput} and {@link #backwardWeight}, in this order,
 * with other microbatches in between by the plan (or {@link #backward} in place of the last two); then, if {@link #tiedEnd}
 * is not {@code NONE}, the exchange of the table's gradient; {@link #addUpGradients}; {@link #squaredSums};
 * {@link #optimizerStep}, which leaves gradients of zero; and if ranks share weights out, {@link #unshard}. Gradients add up
 * in the order of the calls to {@code backwardWeight}, so the same order gives the same bits.
 *
 * <p>Boundary tensors, activations and their gradients, are [N x C]: N = microbatch size times length of its sequences, at
 * most the settings', C hidden size; with sequence parallelism each rank has some of the rows. A model with experts has some
 * rows more, for the loads of these ({@link LoadCarrier}). An input comes from
 * {@link BoundaryTensors#take} and then belongs to the stage; an output belongs to the caller until
 * {@link BoundaryTensors#release}.
 *
 * <p>Thread rule: one thread at a time, the engine's, except for {@link BoundaryTensors#release} and the plain getters,
 * which may be called from any thread. Calls out of order raise {@link IllegalStateException} with stage and microbatch: the
 * plan or its walker is wrong. After a failed call of a microbatch the only valid call is {@link #close}.
 */
public final class Stage implements AutoCloseable {
    private final int index;
    private final StageSettings settings;
    private final LayerRange layers;
    private final Engine engine;
    private final TensorPool pool;
    private final TensorGroup group;
    private final DataShare data;
    private final StageLayers stack;
    private final StageBuffers buffers;
    private final OptimizerState optimizer;
    private final StageState state;
    private final BoundaryTensors boundary;
    private final Border border;
    private final TiedTable tied;
    private final Measures measures;
    private final MicrobatchTapes tapes;
    private long step;
    private int firstMicrobatch;

    private Stage(Engine engine, Partition partition, int index, StageSettings settings, TensorShare share,
            DataShare data, WeightSource source) {
        this.index = index;
        this.settings = settings;
        this.layers = partition.layers(index);
        this.engine = engine;
        ModelSpec model = partition.model();
        this.pool = new TensorPool(engine);
        LayerContext context = new LayerContext(engine, pool, model.size(Axis.HIDDEN), settings.microbatchSize(),
                settings.sequenceLength(), settings.microbatchesOf(data), share, data.experts());
        this.group = share.group();
        this.data = data;
        this.stack = StageLayers.of(context, model, layers);
        this.buffers = new StageBuffers(engine, stack.used(), true, data, group, pool, settings.overlap(),
                settings.addsInTree() ? settings.microbatchesPerStep() / data.group().size() : 0);
        buffers.load(stack.parameters(), source);
        this.optimizer = new OptimizerState(engine, buffers, settings.optimizer(), pool, data, biasUpdates(model));
        this.state = new StageState(engine, stack, buffers, optimizer, group, data.replica());
        LoadCarrier loads = new LoadCarrier(context, model.balance(),
                (int) layers.of(model).stream().filter(LayerSpec::hasExperts).count());
        this.boundary = new BoundaryTensors(pool, loads.boundary(), settings.sequenceLength());
        this.measures = new Measures(engine, settings, stack.parameters().size());
        TokenUpload upload = stack.upload(context, index, model.size(Axis.VOCABULARY));
        this.border = new Border(index, loads, stack, upload, measures, settings.separatesDocuments());
        this.tied = new TiedTable(index, engine, pool, stack, buffers);
        this.tapes = new MicrobatchTapes(index, stack, settings, buffers.layerShares(), context, data.aside(),
                measures);
    }

    private BiasUpdates biasUpdates(ModelSpec model) {
        return new BiasUpdates(engine, buffers, stack.parameters(),
                model.balance().map(one -> one.training().biasUpdateRate()).orElse(0.0));
    }

    /** Builds an undivided stage. */
    public static Stage create(Engine engine, Partition partition, int index, StageSettings settings,
            WeightSource source) {
        return create(engine, partition, index, settings, TensorShare.ALL, DataShare.ALL, source);
    }

    /**
     * Builds one rank's share of a stage with fresh optimizer state. The ranks of its group call everything in the same
     * order. The engine remains the caller's, and serves no stage on another thread.
     *
     * @param data the ranks that hold the same share, and the state that they divide
     * @param source has whole tensors, of which the stage takes its slices
     * @throws IllegalArgumentException if the sequence is longer than the model's, or the group cannot divide the model
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    public static Stage create(Engine engine, Partition partition, int index, StageSettings settings,
            TensorShare share, DataShare data, WeightSource source) {
        settings.requireFits(partition.model(), share);
        return new Stage(engine, partition, index, settings, share, data, source);
    }

    /** Reports all further outputs of the layers to a watch. */
    public void watchedBy(StageWatch watch) {
        tapes.watchedBy(watch);
    }

    /** Returns this stage's place in the pipeline, from 0 on. */
    public int index() {
        return index;
    }

    public LayerRange layers() {
        return layers;
    }

    /** Returns whether this stage has the embedding: it takes token ids, and no tensor of an earlier stage. */
    public boolean hasEmbedding() {
        return stack.embedding() != null;
    }

    /** Returns whether this stage has the head: it takes targets and gives a loss. */
    public boolean hasHead() {
        return stack.head() != null;
    }

    /** Returns which ends of a tied token table this stage has. */
    public TiedEnd tiedEnd() {
        return stack.tiedEnd();
    }

    /** Returns the number of trained elements in this rank's share of the stage; a table with both ends here counts once. */
    public long parameterCount() {
        return stack.parameters().stream().mapToLong(parameter -> parameter.shape().elementCount()).sum();
    }

    public long weightBytes() {
        return buffers.weightBytes();
    }

    public long gradientBytes() {
        return buffers.gradientBytes();
    }

    /** Returns the tensors that cross this stage's borders. */
    public BoundaryTensors boundary() {
        return boundary;
    }

    /**
     * Returns the number of microbatches after {@link #forward} and before the end of {@link #backwardWeight}. Any thread.
     */
    public int liveActivations() {
        return tapes.liveCount();
    }

    /** Sets the step of the next forwards, and the number of its microbatch 0 among all pipelines. */
    public void enterStep(long number, int firstOfPipeline) {
        step = number;
        firstMicrobatch = firstOfPipeline;
    }

    /**
     * Selects the weights and the sum of gradients for the next calls, if steps overlap ({@link StageSettings#overlap}). A
     * backward must use its forward's weights.
     *
     * @param updatesBehind the age of the weights in updates; 0 for the newest
     */
    public void use(int updatesBehind, int gradientSum) {
        buffers.use(updatesBehind, gradientSum);
    }

    /**
     * Runs the forward of one microbatch; inputs of the backwards are kept.
     *
     * @param microbatch its number in the step, from 0
     * @param input the activation of the stage before; null on the stage with the embedding
     * @param rows N token ids, for the embedding; N targets, for the head; if documents are separate their starts
     * @return the activation for the next stage; null on the stage with the head, which has a {@link #loss} then
     * @throws IllegalArgumentException if tokens or targets are not N ids of the vocabulary
     */
    public Tensor forward(int microbatch, Tensor input, MicrobatchRows rows) {
        StageTape tape = tapes.begin(microbatch);
        int length = border.lengthOf(input, rows);
        DropoutKey key = settings.dropoutOf(step, firstMicrobatch + microbatch, length);
        return border.forward(tape, microbatch, input, rows, key, length, true);
    }

    /**
     * As {@link #forward}, but without dropout and without kept tensors, for a validation loss. The microbatch must not have
     * live activations; its {@link #loss} is overwritten.
     */
    public Tensor forwardOnly(int microbatch, Tensor input, MicrobatchRows rows) {
        StageTape tape = tapes.begin(microbatch);
        int length = border.lengthOf(input, rows);
        Tensor output = border.forward(tape, microbatch, input, rows, DropoutKey.NONE, length, false);
        tapes.end(microbatch);
        return output;
    }

    /**
     * Returns the loss of a microbatch's last forward on the stage with the head: the cross-entropy of its counted targets,
     * summed in float64 in a fixed order, over {@link MicrobatchRows#targetsPerMicrobatch}. Waits for the engine.
     */
    public double loss(int microbatch) {
        return tapes.loss(microbatch);
    }

    /**
     * Returns the measures of the experts in a microbatch's last {@link #forward}, on the stage with the head; null if the
     * model has no experts.
     */
    public Balance.Measure experts(int microbatch) {
        return measures.experts(microbatch);
    }

    /** Replays the blocks of a microbatch that {@link StageSettings#replay} has ahead of its backward. */
    public void recompute(int microbatch) {
        tapes.awaitingReplay(microbatch).replayAhead();
    }

    /**
     * Runs the backward of one microbatch for the input of this stage, and frees the tensors that only it needs.
     *
     * @param outputGradient the gradient for the result of {@link #forward}; null on the stage with the head, where it
     *     starts from the loss, divided by the microbatches of the step
     * @return the gradient for the stage before; null on the stage with the embedding
     */
    public Tensor backwardInput(int microbatch, Tensor outputGradient) {
        StageTape tape = tapes.awaitingInputGradient(microbatch);
        return border.backward(tape, microbatch, outputGradient, tape::backwardInput);
    }

    /**
     * Runs both backwards of one microbatch at once, layer by layer: the same bits as {@link #backwardInput}, with the same
     * argument and result, and then {@link #backwardWeight}, with fewer tensors in between.
     */
    public Tensor backward(int microbatch, Tensor outputGradient) {
        StageTape tape = tapes.awaitingInputGradient(microbatch);
        Tensor inputGradient = border.backward(tape, microbatch, outputGradient, tape::backward);
        tapes.end(microbatch);
        return inputGradient;
    }

    /**
     * Announces that the next {@link #backward} or {@link #backwardWeight} is the step's last. The gradients of each layer
     * are then added up over the ranks with the same weights as soon as they are final, concurrently;
     * {@link #addUpGradients} waits for them. Without this call, or if ranks divide gradients, all sums are made there.
     */
    public void lastBackwardFollows() {
        buffers.lastBackwardFollows();
        tapes.lastBackwardFollows();
    }

    /** Runs the backward of one microbatch for the weights: adds to the gradients and releases its activations. */
    public void backwardWeight(int microbatch) {
        tapes.awaitingWeightGradient(microbatch).backwardWeight();
        tapes.end(microbatch);
    }

    /** Sets the factor of the losses of later microbatches before the backward, on the last stage; 1 at first. */
    public void scaleLoss(double factor) {
        stack.head().scaleLoss(factor);
    }

    /** Discards a step: its gradients become zero. With several versions of the weights the last two become equal. */
    public void skipStep() {
        buffers.beginUpdate();
        buffers.zeroGradients();
    }

    /**
     * Adds up over the group the gradients that each rank computed from its own rows or heads, then over the ranks with the
     * same weights, and waits. Once a step, after a tied table's exchange. With ZeRO a rank has the sums of its share only.
     */
    public void addUpGradients() {
        buffers.addUpGradients();
    }

    /** Returns this stage's view of the token table that the model uses at both ends. */
    public TiedTable tied() {
        return tied;
    }

    /**
     * Reports this stage's shares of the squared global gradient norm, layer by layer. A tied table counts only at the
     * embedding, so its gradients must be summed before. Every rank of the group reports the sums of whole tensors.
     */
    public void squaredSums(SquaredSums sums) {
        stack.squaredSums(engine, measures, buffers, group, data.sameWeights(), sums);
    }

    /**
     * Updates this rank's weights, and makes the gradients zero; {@link #unshard} follows. With several versions of the
     * weights, the newest becomes the next older one.
     *
     * @param gradientScale the factor of gradients: the clip coefficient of the global norm, over the loss scale
     * @param updateNumber the number of updates including this one, at least 1
     */
    public void optimizerStep(double learningRate, double gradientScale, long updateNumber) {
        optimizer.step(learningRate, gradientScale, updateNumber);
        buffers.zeroOtherGradients();
    }

    /**
     * Gathers weights if ranks divide them: after {@link #optimizerStep} the updates of the others; with ZeRO-3, before a
     * step's first forward, the weights of the first layer. Runs the outer step of replicas at the end of a round.
     */
    public void unshard() {
        optimizer.endStep(step, data.group().size());
        buffers.unshard();
    }

    /** Frees the gathered weights of other ranks, after the last action of a step that reads them. */
    public void reshard() {
        buffers.reshard();
    }

    /** Returns the weights, in the order of the published model, for an export. */
    public List<StateTensor> weights() {
        return state.weights();
    }

    /**
     * Returns the gradients, named as their weights; a tied table with both ends here has the sum after
     * {@link TiedTable#reduce}.
     */
    public List<StateTensor> gradients() {
        return state.gradients();
    }

    /** Returns this rank's weights and optimizer state. A checkpoint or a snapshot also has the number of updates. */
    public List<StateTensor> state() {
        return state.all();
    }

    /**
     * Restores all of {@link #state} from whole tensors, bit for bit if the source has the engine's float type.
     *
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor or has it in another shape; the stage is
     *     unusable then
     */
    public void load(WeightSource source) {
        state.load(source);
        buffers.versionsChanged();
    }

    /** As {@link #load}, but from a source with only this rank's slices, as of {@link #state}. */
    public void loadOwn(WeightSource source) {
        state.loadOwn(source);
        buffers.versionsChanged();
    }

    /** Frees all tensors, including boundary tensors outside the stage. */
    @Override
    public void close() {
        measures.close();
        pool.close();
        tapes.close();
        optimizer.close();
        buffers.close();
        border.close();
    }
}
