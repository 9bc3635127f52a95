package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.shard.BufferLayout.Piece;
import dev.troupe.sum.MicrobatchTree;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The exchange of one layer's gradients for one microbatch into the shares of the ranks with the same weights (ZeRO-2,
 * Rajbhandari et al. 2020, section 5.2). All layers use the same buffer: its gradients are summed over the ranks before the
 * next layer's backward.
 */
final class LayerGradients {
    private final Engine engine;
    private final Tensor buffer;
    private final List<List<Exchange>> ofLayers = new ArrayList<>();

    /** A bucket, this rank's part of it, and the place of its sum; null for the tree if microbatches add up in the sum. */
    private record Exchange(TensorGroup holders, Tensor whole, Tensor share, Tensor sum, MicrobatchTree tree) {
    }

    /**
     * Places the gradients of all layers.
     *
     * @param sums this rank's share of all gradients
     * @param buffer large enough for any of the layers, zero
     * @param treeOf returns the tree that adds a share over microbatches, or null
     */
    LayerGradients(Engine engine, FlatBuffer sums, List<LayerRoom> rooms, Tensor buffer,
            Function<Tensor, MicrobatchTree> treeOf) {
        this.engine = engine;
        this.buffer = buffer;
        for (LayerRoom room : rooms) {
            for (int i = 0; i < room.parameters().size(); i++) {
                LayerRoom.RowPosition position = room.form().get(i);
                room.parameters().get(i).placeGradient(engine.range(buffer, position.first(), position.shape()));
            }
            ofLayers.add(room.places().stream().map(place -> {
                Piece own = place.bucket().share();
                Tensor share = range(place.first() + own.first() - place.bucket().first(), own.count());
                return new Exchange(place.bucket().holders(), range(place.first(), place.bucket().elementCount()),
                        share,
                        sums.part(own), treeOf.apply(share));
            }).toList());
        }
    }

    private Tensor range(long first, long count) {
        return engine.range(buffer, first, Shape.row(count));
    }

    /** Adds the gradients of a layer to the shares, after a microbatch's backward for its weights. */
    void addUp(int layer) {
        for (Exchange exchange : ofLayers.get(layer)) {
            if (exchange.holders.size() > 1) {
                exchange.holders.reduceScatter(exchange.whole, exchange.share);
            }
            if (exchange.tree == null || exchange.tree.add()) {
                engine.add(exchange.sum, exchange.share, exchange.sum);
            }
            engine.fill(exchange.whole, 0);
        }
    }
}
