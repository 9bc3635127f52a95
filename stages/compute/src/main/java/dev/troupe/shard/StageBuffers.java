package dev.troupe.shard;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.offload.StateRegion;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.Zero;
import dev.troupe.shard.FlatBuffer.Extent;
import dev.troupe.sum.MicrobatchTree;
import dev.troupe.weights.WeightSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The flat buffers of a stage: one for weights, one for gradients, and one for each moment of the optimizer, all with one
 * {@link BufferLayout}; {@link FrozenWeights} are separate. In mixed precision another one has weights rounded for the
 * products. If steps overlap, there may be more buffers of weights and gradients ({@link Overlap}). Layers have ranges for
 * their parameters; optimizer, snapshot and reduction have whole buffers or a few large ranges.
 */
public final class StageBuffers implements AutoCloseable {
    private final Engine engine;
    private final DataShare data;
    private final BufferLayout layout;
    private final StageParameters layers;
    private final FrozenWeights frozen;
    private final HeldVersions versions;
    /** Empty if the stage is not for training. */
    private final List<GradientSum> sums = new ArrayList<>();
    private int sumInUse;
    private final List<Tensor> owned = new ArrayList<>();
    private final List<Exchanged> exchangedWeights;
    private final OwnShareGradients ownShares;
    /** Null if every gradient is already its sum over the ranks. */
    private final GradientBuckets buckets;
    private final LayerShares layerShares;
    // The bytes of buffers that layers use one after another.
    private long workingWeightBytes;
    private long workingGradientBytes;

    /** A bucket of a buffer, and this rank's share of it. */
    private record Exchanged(TensorGroup holders, Tensor whole, Tensor share) {
    }

    /**
     * Allocates the buffers of all parameters of some layers; weights and gradients are zero. Layers read the newest weights
     * and add to the first sum of gradients until {@link #use}.
     *
     * @param trained whether there are gradients
     * @param data the ranks that divide the buffers
     * @param group the ranks that share the stage
     * @param pool for temporary tensors of a step
     * @param treeLeaves this rank's microbatches of a step if one tree adds their gradients; 0 if they add up one by one
     * @throws IllegalArgumentException if ranks divide gradients and steps overlap
     */
    public StageBuffers(Engine engine, StageParameters layers, boolean trained, DataShare data, TensorGroup group,
            TensorPool pool, Overlap overlap, int treeLeaves) {
        if (data.shares(Zero.GRADIENTS) && !overlap.equals(Overlap.NONE)) {
            throw new IllegalArgumentException(
                    "a rank has a share of each gradient, or of each weight, but steps overlap:"
                            + " their ranks keep whole sums of gradients and whole versions of the weights");
        }
        this.engine = engine;
        this.data = data;
        this.layers = layers;
        List<Parameter> parameters = layers.all();
        this.frozen = new FrozenWeights(engine, layers, data);
        boolean sharesGradients = data.shares(Zero.GRADIENTS);
        this.layout = new BufferLayout(
                data.group().size() > 1 || treeLeaves > 0 ? layers.buckets() : List.of(parameters), data);
        Extent weightExtent = data.shares(Zero.WEIGHTS) ? Extent.SHARE : Extent.ALL;
        List<WeightVersion> copies = Stream.generate(() -> version(weightExtent, parameters))
                .limit(overlap.weightVersions()).toList();
        this.versions = new HeldVersions(copies.getFirst(), copies.subList(1, copies.size()));
        versions.newest().place();
        for (int index = 0; trained && index < overlap.gradientSums(); index++) {
            sums.add(gradientSum(parameters));
        }
        if (trained) {
            sum().place(layers);
        }
        this.exchangedWeights = data.shares(Zero.OPTIMIZER) && weightExtent == Extent.ALL
                ? exchanged(weights())
                : List.of();
        this.ownShares = new OwnShareGradients(engine, group, pool, parameters,
                parameter -> sharesGradients || treeLeaves > 0 && data.shares(Zero.OPTIMIZER)
                        ? gradientShare(parameter)
                        : Optional.of(parameter.gradient()));
        this.buckets = trained && !sharesGradients && data.group().size() > 1
                ? new GradientBuckets(layout, data, gradientSums(), this::sumIndex, layers.finalWithLayers(), ownShares,
                        treeLeaves > 0)
                : null;
        this.layerShares = layerShares(treeLeaves);
    }

    private WeightVersion version(Extent extent, List<Parameter> parameters) {
        FlatBuffer weights = allocate(extent);
        boolean isWhole = extent == Extent.ALL;
        Tensor computeWeights = engine.computeType() != engine.parameterType() && isWhole
                ? own(engine.computeType(), weights.tensor().shape())
                : null;
        return new WeightVersion(engine, layout, weights, computeWeights, isWhole ? parameters : List.of());
    }

    private GradientSum gradientSum(List<Parameter> parameters) {
        FlatBuffer buffer = allocate(Extent.ofGradients(data));
        Tensor secondUse = !data.shares(Zero.GRADIENTS) && layers.secondUse() != null
                ? own(engine.parameterType(), layers.secondUse().shape())
                : null;
        return GradientSum.of(engine, layout, buffer, secondUse, parameters);
    }

    /** Makes layers read weights of this age in updates, and add gradients to the sum of this index. */
    public void use(int updatesBehind, int sumIndex) {
        versions.before(updatesBehind).place();
        sumInUse = sumIndex;
        sum().place(layers);
    }

    private GradientSum sum() {
        return sums.get(sumInUse);
    }

    /** Copies the newest weights before an update, if there are several versions. */
    public void beginUpdate() {
        versions.beginUpdate();
    }

    private LayerShares layerShares(int treeLeaves) {
        if (!data.shares(Zero.GRADIENTS)) {
            return new LayerShares(null, null, buckets,
                    treeLeaves == 0 ? List.of() : sum().trees(layout, layers, some -> tree(treeLeaves, some)), true);
        }
        List<LayerRoom> rooms = layers.used().stream().map(used -> LayerRoom.of(List.of(layout), used)).toList();
        Tensor working = own(engine.parameterType(), largest(rooms));
        workingGradientBytes += working.byteCount();
        return new LayerShares(data.shares(Zero.WEIGHTS) ? layerWeights() : null,
                new LayerGradients(engine, gradients(), rooms, working,
                        share -> treeLeaves == 0 ? null : tree(treeLeaves, List.of(share))),
                null, List.of(), layers.firstReadsBackwards());
    }

    private MicrobatchTree tree(int leaves, List<Tensor> gradients) {
        MicrobatchTree tree = new MicrobatchTree(engine, leaves, gradients, like -> own(like.dataType(), like.shape()));
        workingGradientBytes += tree.bytes();
        return tree;
    }

    private static Shape largest(List<LayerRoom> rooms) {
        return Shape.row(Math.max(BufferLayout.ALIGNMENT,
                rooms.stream().mapToLong(LayerRoom::elementCount).max().orElseThrow()));
    }

    private LayerWeights layerWeights() {
        List<WeightShare> shares = Stream.concat(Stream.of(new WeightShare(layout, weights())), frozen.share().stream())
                .toList();
        List<BufferLayout> layouts = shares.stream().map(WeightShare::layout).toList();
        List<LayerRoom> rooms = layers.read().stream().map(read -> LayerRoom.of(layouts, read)).toList();
        Shape largest = largest(rooms);
        boolean roundsWeights = engine.computeType() != engine.parameterType();
        List<Tensor> gathered = new ArrayList<>();
        List<Tensor> rounded = new ArrayList<>();
        for (int slot = 0; slot < Math.min(LayerWeights.SLOTS, rooms.size()); slot++) {
            gathered.add(own(engine.parameterType(), largest));
            rounded.add(roundsWeights ? own(engine.computeType(), largest) : gathered.getLast());
        }
        workingWeightBytes = gathered.stream().mapToLong(Tensor::byteCount).sum();
        return new LayerWeights(engine, data, shares, rooms, gathered, rounded);
    }

    private List<Exchanged> exchanged(FlatBuffer buffer) {
        return layout.buckets().stream().filter(bucket -> bucket.holders().size() > 1)
                .map(bucket -> new Exchanged(bucket.holders(), buffer.part(layout.whole(bucket)),
                        buffer.part(bucket.share())))
                .toList();
    }

    public LayerShares layerShares() {
        return layerShares;
    }

    /** Returns this rank's part of the newest weights. */
    public FlatBuffer weights() {
        return versions.newest().weights();
    }

    /** Returns the older versions of the weights, the newest of them first; empty if a stage holds one version. */
    public List<FlatBuffer> olderWeights() {
        return IntStream.rangeClosed(1, versions.olderCount()).mapToObj(updates -> versions.before(updates).weights())
                .toList();
    }

    /** Returns the rotation state of {@link #olderWeights}: as long as it is the same, the buffers are the same. */
    public int turnOfVersions() {
        return versions.turn();
    }

    /** Returns the sum of gradients in use, without a second use. */
    public FlatBuffer gradients() {
        return sum().buffer();
    }

    public List<FlatBuffer> gradientSums() {
        return sums.stream().map(GradientSum::buffer).toList();
    }

    public int sumIndex() {
        return sumInUse;
    }

    /** Returns the bytes of all versions of the weights, including weights gathered for layers. */
    public long weightBytes() {
        return frozen.weightBytes() + versions.bytes() + workingWeightBytes;
    }

    /** Returns the bytes of all gradients of a stage that trains, with a second use and the layer that computes. */
    public long gradientBytes() {
        return sums.stream().mapToLong(GradientSum::bytes).sum() + workingGradientBytes;
    }

    /** Returns a buffer for a moment of each weight of a run, filled with zeros. */
    public Moments allocateMoments(BufferLayout.Run run) {
        return Moments.in(engine, layout, data, run, own(engine.parameterType(), Shape.row(run.elementCount())));
    }

    /** Returns a moment of each weight of a run in a store, from a byte on. */
    public Moments storedMoments(BufferLayout.Run run, StateRegion region, long firstByte) {
        return Moments.in(engine, layout, data, run, region, firstByte);
    }

    private FlatBuffer allocate(Extent extent) {
        long count = extent == Extent.SHARE ? layout.shareElementCount() : layout.elementCount();
        return new FlatBuffer(engine, own(engine.parameterType(), Shape.row(count)), extent);
    }

    /** Returns the ranges that an optimizer updates on this rank, without the {@link #matrices} if {@code matricesApart}. */
    public List<BufferLayout.Run> runs(boolean matricesApart) {
        return data.shares(Zero.OPTIMIZER) ? layout.runsOfShare() : layout.runs(matricesApart);
    }

    public List<Parameter> matrices() {
        return layers.all().stream().filter(parameter -> parameter.spec().isHiddenMatrix()).toList();
    }

    public BufferLayout.Run runOf(Parameter parameter) {
        return layout.runOf(parameter);
    }

    /** Returns this rank's part of a parameter in a buffer; {@code isCopy}: whether another rank writes the same too. */
    public Optional<StateTensor> held(String name, Parameter parameter, FlatBuffer buffer, boolean isCopy) {
        return layout.held(name, parameter, buffer, isCopy);
    }

    /** Returns this rank's share of a parameter's gradient, for common measurements of the ranks; empty if it has none. */
    public Optional<Tensor> gradientShare(Parameter parameter) {
        return Optional.ofNullable(sum().shares().get(parameter));
    }

    /** Announces that the next backward for the weights is the step's last. */
    public void lastBackwardFollows() {
        if (buckets != null && !data.replicas()) {
            buckets.lastBackwardFollows();
        }
    }

    /** Sums gradients of a rank's own rows or heads over the group, and all over the ranks with the same weights. */
    public void addUpGradients() {
        if (layerShares.addsInTree()) {
            reduceGradients();
        }
        ownShares.addUpRest();
        if (!layerShares.addsInTree() && !data.replicas()) {
            reduceGradients();
        }
    }

    /** Sums the buffer of gradients over the data-parallel ranks; with ZeRO, this rank's share of it. */
    public void reduceGradients() {
        if (buckets != null) {
            buckets.addUpRest();
        }
    }

    /** Returns the part of a table's gradient for the stage at the other end: all, or this rank's share of its bucket. */
    public Tensor exchangedGradient(Parameter table) {
        return gradients().extent() == Extent.SHARE
                ? gradients().part(layout.bucketOf(table).share())
                : table.gradient();
    }

    /** Returns whether the gradient of a second use must still be added to the first. */
    public boolean hasSecondGradient() {
        return sum().secondUse() != null;
    }

    /** Returns the operands of products of a run's weights; empty if they are the weights, or if ranks exchange these. */
    public Optional<Tensor> operands(BufferLayout.Run run) {
        return exchangedWeights.isEmpty() ? versions.newest().operands(run.piece()) : Optional.empty();
    }

    /** Updates the operands of products after an update of this rank's weights that did not write them. */
    public void weightsUpdated() {
        if (exchangedWeights.isEmpty()) {
            versions.newest().changed();
        }
    }

    /** Gathers the weights that other ranks updated; with ZeRO-3, the weights that are read first. */
    public void unshard() {
        if (!exchangedWeights.isEmpty()) {
            exchangedWeights.forEach(bucket -> bucket.holders.allGather(bucket.share, bucket.whole));
            versions.newest().changed();
        }
        layerShares.beginStep();
    }

    /** Releases weights of other ranks. */
    public void reshard() {
        layerShares.endStep();
    }

    /** Fills the weights from the source, in the order of the layers. */
    public void load(List<Parameter> parameters, WeightSource source) {
        frozen.load(source);
        parameters.stream().flatMap(parameter -> held(parameter.name(), parameter, weights(), false).stream())
                .forEach(held -> held.load(engine, source));
        versions.begin();
    }

    /** Rounds all versions of the weights, which have changed, for the products, in one kernel call each. */
    public void versionsChanged() {
        versions.changed();
    }

    /** Makes all gradients of the sum in use zero, including a second use. */
    public void zeroGradients() {
        engine.fill(gradients().tensor(), 0);
        zeroSecondGradient();
    }

    /** Zeroes the gradients that an update did not: all except {@link #runs}. */
    public void zeroOtherGradients() {
        if (gradients().extent() == Extent.SHARE_IN_PLACE) {
            engine.fill(gradients().tensor(), 0);
        }
        zeroSecondGradient();
    }

    private void zeroSecondGradient() {
        if (sum().secondUse() != null) {
            engine.fill(sum().secondUse(), 0);
        }
    }

    /** Returns a tensor of zeros, which is freed with the buffers. */
    public Tensor own(DataType dataType, Shape shape) {
        Tensor tensor = engine.allocate(dataType, shape);
        owned.add(tensor);
        return tensor;
    }

    /** Frees every buffer, including the tensors of {@link #own}. */
    @Override
    public void close() {
        owned.forEach(Tensor::close);
        frozen.close();
    }
}
