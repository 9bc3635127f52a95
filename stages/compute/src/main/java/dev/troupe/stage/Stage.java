package dev.troupe.stage;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.ResidualStream;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
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
 * most the settings', C hidden size; with sequence parallelism each rank has some of the rows. One that goes in comes from
 * {@link #takeBoundary} and is the stage's from then on; one that comes out is the caller's until {@link #release}.
 *
 * <p>Thread rule: one thread at a time, the engine's, except for {@link #release} and the plain getters, which may be called
 * from any thread. Calls out of order raise {@link IllegalStateException} with stage and microbatch: the plan or its walker
 * is wrong. After a failed call of a microbatch only {@link #close} is of use.
 */
public final class Stage implements AutoCloseable {
    private final int index;
    private final StageSettings settings;
    private final LayerRange layers;
    private final Engine engine;
    private final TensorPool pool;
    private final TensorGroup group;
    private final TensorGroup holders;
    private final StageLayers stack;
    private final StageBuffers buffers;
    private final OptimizerState optimizer;
    private final StageState state;
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
                settings.sequenceLength(), settings.microbatchesPerStep(), share);
        this.group = share.group();
        this.holders = data.group();
        this.stack = StageLayers.of(context, model, layers);
        this.buffers = new StageBuffers(engine, stack.used(), true, data, group, pool, settings.overlap());
        buffers.load(stack.parameters(), source);
        this.optimizer = new OptimizerState(engine, buffers, settings.optimizer(), pool);
        this.state = new StageState(engine, stack, buffers, optimizer, group);
        this.border = new Border(index, new ResidualStream(context).extent(), stack,
                new TokenUpload(context, index, model.size(Axis.VOCABULARY)), settings.separatesDocuments());
        this.tied = new TiedTable(index, engine, pool, stack, buffers);
        this.measures = new Measures(engine, settings.microbatchesPerStep(), stack.parameters().size());
        this.tapes = new MicrobatchTapes(index, stack, settings, buffers.layerShares(), pool, measures);
    }

    /** Builds a stage for a rank that has all of it. */
    public static Stage create(Engine engine, Partition partition, int index, StageSettings settings,
            WeightSource source) {
        return create(engine, partition, index, settings, TensorShare.ALL, DataShare.ALL, source);
    }

    /**
     * Builds one rank's share of a stage with fresh optimizer state. The ranks of its group call everything in the same
     * order. The engine stays the caller's, and serves no other stage on another thread.
     *
     * @param share this rank's share of the stage
     * @param data the ranks that hold the same share, and the state that they share out among them
     * @param source has whole tensors, of which the stage takes its slices
     * @throws IllegalArgumentException if the sequence is longer than the model's, or the group cannot share the model out
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    public static Stage create(Engine engine, Partition partition, int index, StageSettings settings,
            TensorShare share, DataShare data, WeightSource source) {
        settings.requireFits(partition.model(), share);
        return new Stage(engine, partition, index, settings, share, data, source);
    }

    /** Reports all outputs of the layers from now on to a watch. */
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

    /**
     * Returns whether this stage has the embedding: it takes token ids, and neither input nor gradient crosses its border.
     */
    public boolean hasEmbedding() {
        return stack.embedding() != null;
    }

    /** Returns whether this stage has the head: it takes targets and gives a loss. */
    public boolean hasHead() {
        return stack.head() != null;
    }

    /** Returns the ends of a tied token table that are here. */
    public TiedEnd tiedEnd() {
        return stack.tiedEnd();
    }

    /** Returns the count of numbers trained on this rank's share of the stage; a table with both ends here counts once. */
    public long parameterCount() {
        return stack.parameters().stream().mapToLong(parameter -> parameter.shape().elementCount()).sum();
    }

    public long weightBytes() {
        return buffers.weightBytes();
    }

    public long gradientBytes() {
        return buffers.gradientBytes();
    }

    /** Returns a buffer with any content, for the stage's input: [N x C], or with sequence parallelism this rank's rows. */
    public Tensor takeBoundary() {
        return pool.take(border.extent(), settings.sequenceLength());
    }

    /** Returns the rows of a boundary tensor of this length of sequences. */
    public int rowsOf(int length) {
        return border.extent().of(length).size(0);
    }

    /** Takes a boundary tensor over, and returns one of this length of sequences, in the same memory. */
    public Tensor ofLength(Tensor boundary, int length) {
        return pool.reshape(boundary, border.extent().of(length));
    }

    /**
     * Takes over a boundary tensor that came out of another stage on the same engine, without a copy: that stage gets a
     * buffer of this one in return.
     */
    public void adopt(Tensor boundary, Stage from) {
        Tensor buffer = takeBoundary();
        pool.exchange(buffer, from.pool, boundary);
        from.release(buffer);
    }

    /**
     * Takes back a boundary tensor that came out of this stage, or one that was taken and is not needed. Any thread.
     *
     * @throws IllegalArgumentException if the tensor is not of this stage, or was released before
     */
    public void release(Tensor boundary) {
        pool.give(boundary);
    }

    /** Returns the microbatches that went forward and have not finished {@link #backwardWeight}. Any thread may ask. */
    public int liveActivations() {
        return tapes.liveCount();
    }

    /** Sets the step of the next forwards, and the number over all pipelines of this one's microbatch 0. */
    public void enterStep(long number, int firstOfPipeline) {
        step = number;
        firstMicrobatch = firstOfPipeline;
    }

    /**
     * Selects weights and sum of gradients for the next calls, if steps overlap ({@link StageSettings#overlap}): weights of
     * this age in updates, 0 for the newest, and the sum of this index. A backward uses its forward's weights.
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
        return tape.forward(border.input(microbatch, length, input, rows), border.enter(tape, rows, length, key));
    }

    /**
     * As {@link #forward}, but keeps nothing and without dropout: for a loss on validation data. The microbatch has no
     * activations of a {@link #forward} at that time; its {@link #loss} is overwritten.
     */
    public Tensor forwardOnly(int microbatch, Tensor input, MicrobatchRows rows) {
        StageTape tape = tapes.begin(microbatch);
        int length = border.lengthOf(input, rows);
        Tensor output = tape.forwardOnly(border.input(microbatch, length, input, rows),
                border.enter(tape, rows, length, DropoutKey.NONE));
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

    /** Replays the blocks of a microbatch that {@link StageSettings#replay} has ahead, so that its backward need not. */
    public void recompute(int microbatch) {
        tapes.awaitingReplay(microbatch).replayAhead();
    }

    /**
     * Runs the backward of one microbatch for the input of this stage, and gives back tensors that only it needs.
     *
     * @param outputGradient the gradient for the result of {@link #forward}; null on the stage with the head, where it
     *     starts from the loss, divided by the microbatches of the step
     * @return the gradient for the stage before; null on the stage with the embedding
     */
    public Tensor backwardInput(int microbatch, Tensor outputGradient) {
        StageTape tape = tapes.awaitingInputGradient(microbatch);
        border.checkGradient(microbatch, tape.length(), outputGradient);
        return tape.backwardInput(outputGradient);
    }

    /**
     * Runs both backwards of one microbatch at once, layer by layer: the same bits as {@link #backwardInput}, with the same
     * argument and result, and then {@link #backwardWeight}, with less kept between them.
     */
    public Tensor backward(int microbatch, Tensor outputGradient) {
        StageTape tape = tapes.awaitingInputGradient(microbatch);
        border.checkGradient(microbatch, tape.length(), outputGradient);
        Tensor inputGradient = tape.backward(outputGradient);
        tapes.end(microbatch);
        return inputGradient;
    }

    /**
     * Announces that the next {@link #backward} or {@link #backwardWeight} is the step's last. The gradients of each layer
     * are then added up over the ranks with the same weights as soon as they are final, in parallel to this thread;
     * {@link #addUpGradients} waits for them. Without it, or if gradients are shared out, all is done there.
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

    /** Gives a step up: its gradients become zero. With several versions of the weights the last two become the same. */
    public void skipStep() {
        buffers.beginUpdate();
        buffers.zeroGradients();
    }

    /**
     * Adds up over the group the gradients that each rank computed from its own rows or for its own heads, then gradients
     * over the ranks with the same weights, and waits for those in flight. Once a step, after the exchange of a tied table's
     * gradient. If these ranks share out the optimizer's state, a rank has the sums of its share alone.
     */
    public void addUpGradients() {
        buffers.addUpOwnShares();
        buffers.reduceGradients();
    }

    /** Returns this stage's view of the token table that the model uses at both ends. */
    public TiedTable tied() {
        return tied;
    }

    /**
     * Reports this stage's shares of the squared global gradient norm, layer by layer. A tied table counts at the embedding
     * alone, so its ends are summed before. Every rank of the group has the sums of whole tensors.
     */
    public void squaredSums(SquaredSums sums) {
        stack.squaredSums(engine, measures.squaredSums(), buffers, group, holders, sums);
    }

    /**
     * Updates this rank's weights, and makes the gradients zero; {@link #unshard} follows. With several versions of the
     * weights, the newest becomes the next older one.
     *
     * @param learningRate the rate of this step
     * @param gradientScale the factor of gradients: the clip coefficient of the global norm, over the loss scale
     * @param updateNumber the number of updates including this one, at least 1
     */
    public void optimizerStep(double learningRate, double gradientScale, long updateNumber) {
        optimizer.step(learningRate, gradientScale, updateNumber);
        buffers.zeroOtherGradients();
    }

    /**
     * Gathers weights from the ranks that share them out: after {@link #optimizerStep} all updates of the others, or if a
     * rank has a share alone, before a step's first forward, the weights of the first layer.
     */
    public void unshard() {
        buffers.unshard();
    }

    /** Releases the gathered weights of other ranks, after the last action of a step that reads them. */
    public void reshard() {
        buffers.reshard();
    }

    /** Returns the weights, in the order of the published model, for an export. */
    public List<StateTensor> weights() {
        return state.weights();
    }

    /**
     * Returns the gradients, named as their weights; for a tied table with both ends here the sum after
     * {@link TiedTable#reduce}.
     */
    public List<StateTensor> gradients() {
        return state.gradients();
    }

    /**
     * Returns the weights and optimizer state of this rank, which a checkpoint or a snapshot has in addition to the number
     * of updates.
     */
    public List<StateTensor> state() {
        return state.all();
    }

    /**
     * Restores all of {@link #state} from whole tensors, bit for bit if the source has the engine's float type.
     *
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor or has it in another shape; the stage is of no
     *     use then
     */
    public void load(WeightSource source) {
        state.load(source);
        buffers.versionsChanged();
    }

    /** As {@link #load}, but from a source with this rank's slices alone, as from {@link #state}. */
    public void loadOwn(WeightSource source) {
        state.loadOwn(source);
        buffers.versionsChanged();
    }

    /** Gives all tensors back to the engine, including boundary tensors outside the stage. */
    @Override
    public void close() {
        measures.close();
        pool.close();
        buffers.close();
        border.close();
    }
}
