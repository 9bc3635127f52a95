package dev.troupe.shard;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.shard.BufferLayout.Bucket;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * The exchange of a stage's whole gradients with the ranks that have the same weights. After the step's last backward for
 * the weights a layer's gradients are final. Another thread then sums its buckets over the ranks, while the stage's thread
 * continues. The order of buckets follows from the order of layers and the rank's row, so it is the same on all ranks.
 *
 * <p>Thread rule: the stage's thread. Until {@link #addUpRest} has returned, the group belongs to the other thread.
 */
final class GradientBuckets {
    private final OwnShareGradients ownShares;
    private final boolean ownSharesLast;
    private final SideWork aside;
    private final IntSupplier sumInUse;
    private final List<Layer> layers;
    /** The buckets of each sum that are final after all layers, such as a tied table's. */
    private final List<List<Exchange>> last;
    private final TensorGroup group;
    private final BitSet begun = new BitSet();
    private boolean lastDone;
    private boolean isLastBackward;

    /** A layer's parameters that are final with the layer, and their buckets of each sum. */
    private record Layer(List<Parameter> parameters, List<List<Exchange>> buckets) {
    }

    /** A bucket, and this rank's part of it; null if every rank keeps all of the sum. Its holders are several. */
    private record Exchange(TensorGroup holders, Tensor whole, Tensor share) {
    }

    /**
     * Cuts the buffers of gradients into the buckets that are exchanged.
     *
     * @param sumInUse the index of the sum that backwards add to, from a step's first to {@link #addUpRest}
     * @param ownSharesLast whether gradients of a rank's own rows or heads are summed over the group after the sum over the
     *     ranks with the same weights, and not before
     * @param finalWithLayers for each layer the parameters with gradients that are final when its last backward is done
     */
    GradientBuckets(BufferLayout layout, DataShare data, List<FlatBuffer> sums, IntSupplier sumInUse,
            List<List<Parameter>> finalWithLayers, OwnShareGradients ownShares, boolean ownSharesLast) {
        this.sumInUse = sumInUse;
        this.ownShares = ownShares;
        this.ownSharesLast = ownSharesLast;
        this.aside = new SideWork(data.aside());
        this.group = data.group();
        List<Bucket> left = new ArrayList<>(layout.buckets());
        List<Layer> cut = new ArrayList<>();
        for (List<Parameter> parameters : finalWithLayers) {
            List<Bucket> ofLayer = parameters.stream().map(layout::bucketOf).distinct().toList();
            left.removeAll(ofLayer);
            cut.add(new Layer(parameters, exchanges(layout, sums, ofLayer)));
        }
        this.layers = List.copyOf(cut);
        this.last = exchanges(layout, sums, left);
    }

    private List<List<Exchange>> exchanges(BufferLayout layout, List<FlatBuffer> sums, List<Bucket> buckets) {
        return sums.stream()
                .map(sum -> buckets.stream().filter(bucket -> bucket.holders().size() > 1)
                        .map(bucket -> exchange(layout, sum, bucket)).toList())
                .toList();
    }

    private static Exchange exchange(BufferLayout layout, FlatBuffer gradients, Bucket bucket) {
        return new Exchange(bucket.holders(), gradients.part(layout.whole(bucket)), switch (gradients.extent()) {
            case ALL -> null;
            case SHARE_IN_PLACE -> gradients.part(bucket.share());
            case SHARE -> throw new IllegalArgumentException("gradients that are shared out are sums already");
        });
    }

    /** Announces that the next backward for the weights is the step's last. */
    void lastBackwardFollows() {
        isLastBackward = true;
    }

    /** Records that a microbatch's backward for the weights has passed a layer. */
    void layerDone(int layer) {
        if (isLastBackward) {
            if (!ownSharesLast) {
                ownShares.addUp(layers.get(layer).parameters());
            }
            begun.set(layer);
            begin(layers.get(layer).buckets().get(sumInUse.getAsInt()));
        }
    }

    /**
     * Sums the tables that several layers use over the ranks, and the gradients of their second uses, before the two are
     * added; waits. Later calls of a step do nothing.
     */
    void addUpShared(List<Tensor> secondUses) {
        if (!lastDone) {
            begin(last.get(sumInUse.getAsInt()));
            begin(secondUses.stream().map(whole -> new Exchange(group, whole, null)).toList());
            aside.settle();
            lastDone = true;
        }
    }

    /** Starts the remaining buckets, and waits for all; the next step follows. */
    void addUpRest() {
        List<Exchange> rest = new ArrayList<>();
        for (int layer = layers.size() - 1; layer >= 0; layer--) {
            if (!begun.get(layer)) {
                rest.addAll(layers.get(layer).buckets().get(sumInUse.getAsInt()));
            }
        }
        if (!lastDone) {
            rest.addAll(last.get(sumInUse.getAsInt()));
        }
        // On the other thread even if none remains: other stages of the rank may have started their sums there.
        begin(rest);
        aside.settle();
        startOver();
    }

    private void startOver() {
        begun.clear();
        isLastBackward = false;
        lastDone = false;
    }

    private void begin(List<Exchange> some) {
        aside.begin(() -> some.forEach(this::addUp));
    }

    private void addUp(Exchange bucket) {
        if (bucket.share() == null) {
            bucket.holders().allReduce(bucket.whole());
        } else {
            bucket.holders().reduceScatter(bucket.whole(), bucket.share());
        }
    }
}
