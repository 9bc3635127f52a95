package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.shard.BufferLayout.Piece;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The gathered weights of the layer that computes, and of the next layer, which are gathered concurrently (ZeRO-3,
 * Rajbhandari et al. 2020, section 5.3).
 *
 * <p>Thread rule: the stage's thread. While a gather runs on another thread the group belongs to that thread; every other
 * use of the group comes after {@link #settle}.
 */
final class LayerWeights {
    /** One slot for the layer that computes, one for the next. */
    static final int SLOTS = 2;

    private final Engine engine;
    private final List<WeightShare> shares;
    private final List<LayerRoom> rooms;
    private final List<Slot> slots = new ArrayList<>();
    private final SideWork aside;

    /** A buffer with the weights of a layer, or of none. */
    private static final class Slot {
        private static final int NONE = -1;

        private final Tensor buffer;
        /** The weights in the type that products read; the same buffer if the types are equal. */
        private final Tensor computeWeights;
        private int layer = NONE;
        // Layers of one form use the same ranges, and so do an engine's caches for a range.
        private final Map<List<LayerRoom.RowPosition>, Ranges> ranges = new HashMap<>();
        private final Map<Integer, List<Gather>> gathers = new HashMap<>();

        private Slot(Tensor buffer, Tensor computeWeights) {
            this.buffer = buffer;
            this.computeWeights = computeWeights;
        }
    }

    /** The ranges of each parameter's weights and compute weights, and of all of both. */
    private record Ranges(List<Tensor> weights, List<Tensor> computeWeights, Tensor gathered, Tensor rounded) {
    }

    /** A rank's share of a bucket, and the place of the whole bucket; equal in size if the rank is its only holder. */
    private record Gather(TensorGroup holders, Tensor share, Tensor whole) {
        boolean isExchange() {
            return holders.size() > 1;
        }
    }

    /**
     * Creates slots without weights.
     *
     * @param shares this rank's shares of all weights; {@code layout} in a place is an index of this list
     * @param buffers each large enough for any of the layers
     * @param computeWeights for each buffer one of the type that products read, or itself
     */
    LayerWeights(Engine engine, DataShare data, List<WeightShare> shares, List<LayerRoom> rooms,
            List<Tensor> buffers, List<Tensor> computeWeights) {
        this.engine = engine;
        this.shares = List.copyOf(shares);
        this.rooms = List.copyOf(rooms);
        this.aside = new SideWork(data.aside());
        for (int slot = 0; slot < buffers.size(); slot++) {
            slots.add(new Slot(buffers.get(slot), computeWeights.get(slot)));
        }
    }

    /**
     * Gathers the weights of a layer, which remain until {@link #letGo}.
     *
     * @param next the next layer; a number without a layer for none
     */
    void use(int layer, int next) {
        Slot slot = slotOf(layer);
        if (slot == null) {
            slot = begin(layer);
        }
        settle();
        place(slot);
        if (next >= 0 && next < rooms.size()) {
            begin(next);
        }
    }

    /** Announces the next layer. */
    void follows(int layer) {
        if (slotOf(layer) == null) {
            begin(layer);
        }
    }

    void letGo() {
        settle();
        slots.forEach(slot -> slot.layer = Slot.NONE);
    }

    void letGo(int layer) {
        slotOf(layer).layer = Slot.NONE;
    }

    /** Waits for a gather on the other thread, and throws its failure. */
    void settle() {
        aside.settle();
    }

    private Slot begin(int layer) {
        Slot slot = slotOf(Slot.NONE);
        if (slot == null) {
            throw new IllegalStateException("the weights of more than " + slots.size()
                    + " layers are used at a time: each must be let go of");
        }
        slot.layer = layer;
        List<Gather> gathers = slot.gathers.computeIfAbsent(layer, key -> gathersOf(slot, rooms.get(layer)));
        aside.begin(() -> gathers.stream().filter(Gather::isExchange)
                .forEach(gather -> gather.holders.allGather(gather.share, gather.whole)));
        return slot;
    }

    private Slot slotOf(int layer) {
        for (Slot slot : slots) {
            if (slot.layer == layer) {
                return slot;
            }
        }
        return null;
    }

    private List<Gather> gathersOf(Slot slot, LayerRoom room) {
        return room.places().stream().map(place -> {
            WeightShare share = shares.get(place.layout());
            Piece own = place.bucket().share();
            return new Gather(place.bucket().holders(), share.own().part(own), engine.range(slot.buffer, place.first(),
                    Shape.row(place.bucket().elementCount())));
        }).toList();
    }

    private void place(Slot slot) {
        LayerRoom room = rooms.get(slot.layer);
        slot.gathers.get(slot.layer).stream().filter(gather -> !gather.isExchange())
                .forEach(gather -> engine.copy(gather.share, gather.whole));
        Ranges ranges = slot.ranges.computeIfAbsent(room.form(), form -> rangesOf(slot, room));
        if (slot.computeWeights != slot.buffer) {
            engine.cast(ranges.gathered, ranges.rounded);
        }
        for (int i = 0; i < room.parameters().size(); i++) {
            room.parameters().get(i).owner().placeWeights(ranges.weights.get(i), ranges.computeWeights.get(i));
        }
    }

    private Ranges rangesOf(Slot slot, LayerRoom room) {
        List<Tensor> weights = rangesOf(slot.buffer, room);
        Shape all = Shape.row(room.elementCount());
        return new Ranges(weights, slot.computeWeights == slot.buffer ? weights : rangesOf(slot.computeWeights, room),
                engine.range(slot.buffer, 0, all), engine.range(slot.computeWeights, 0, all));
    }

    private List<Tensor> rangesOf(Tensor buffer, LayerRoom room) {
        return room.form().stream().map(position -> engine.range(buffer, position.first(), position.shape())).toList();
    }
}
