package dev.troupe.rank.bits;

import static java.util.stream.Collectors.toList;

import dev.troupe.config.group.Coordinates;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.LayerRange;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.rank.bits.BitKey.What;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The places of a step's digests in an array, derived from the plan: all of rank 0, then all of rank 1, and so on. A rank's
 * digests of weights come last, since they are known last. Immutable.
 */
public final class BitLayout {
    private final List<Integer> starts = new ArrayList<>();
    private final List<BitKey> keys = new ArrayList<>();

    private BitLayout(List<Rank> ranks) {
        for (Rank rank : ranks) {
            starts.add(keys.size());
            keys.addAll(rank.keys);
        }
    }

    public static BitLayout of(TrainingPlan plan) {
        return new BitLayout(IntStream.range(0, plan.rankCount()).mapToObj(rank -> new Rank(plan, rank)).toList());
    }

    public List<BitKey> keys() {
        return Collections.unmodifiableList(keys);
    }

    /** Returns whether ranks with the same weights sum gradients after each microbatch. */
    static boolean sharesGradients(TrainingPlan plan) {
        return plan.ranks().data() > 1 && plan.zero().includes(Zero.GRADIENTS);
    }

    int start(int rank) {
        return starts.get(rank);
    }

    static final class Rank {
        private static final int NOWHERE = -1;

        private final List<BitKey> keys = new ArrayList<>();
        /** The place of the first microbatch, for each kind of output and layer; the other microbatches follow. */
        private final int[][] microbatches;
        /** The places of the tensors, for each kind of output and layer. */
        private final Map<What, List<Map<String, Integer>>> tensors = new EnumMap<>(What.class);
        private final int firstOfWeights;

        Rank(TrainingPlan plan, int rank) {
            ModelSpec model = plan.model();
            int layerCount = model.layers().size();
            this.microbatches = new int[What.values().length][layerCount];
            for (int[] ofKind : microbatches) {
                Arrays.fill(ofKind, NOWHERE);
            }
            for (What what : List.of(What.WEIGHT_GRADIENT, What.WEIGHT)) {
                tensors.put(what,
                        IntStream.range(0, layerCount).mapToObj(_ -> new HashMap<String, Integer>()).collect(toList()));
            }
            for (int stage : plan.stagesOf(rank)) {
                addMicrobatches(plan, rank, stage);
                addTensors(What.WEIGHT_GRADIENT, plan, rank, stage, sharesGradients(plan));
            }
            this.firstOfWeights = keys.size();
            for (int stage : plan.stagesOf(rank)) {
                addTensors(What.WEIGHT, plan, rank, stage, true);
            }
        }

        private void addMicrobatches(TrainingPlan plan, int rank, int stage) {
            LayerRange layers = plan.partition().layers(stage);
            Action received = new Action(stage, Kind.RECV_F, 0);
            if (layers.first() > 0 && plan.needsMessage(received)) {
                add(What.RECEIVED_ACTIVATION, layers.first(), plan, rank);
            }
            if (layers.last() < plan.model().layers().size() - 1 && plan.needsMessage(received.as(Kind.RECV_B))) {
                add(What.RECEIVED_GRADIENT, layers.last(), plan, rank);
            }
            for (LayerRange whole : blocks(plan.model(), layers)) {
                add(What.ACTIVATION, whole.last(), plan, rank);
                if (whole.first() > 0) {
                    add(What.GRADIENT, whole.first(), plan, rank);
                }
            }
        }

        /** Returns the ranges of layers that a stage computes as one layer: both halves of a block. */
        private static List<LayerRange> blocks(ModelSpec model, LayerRange layers) {
            List<LayerRange> blocks = new ArrayList<>();
            for (int layer = layers.first(); layer <= layers.last(); layer++) {
                if (!blocks.isEmpty() && model.blockNumber(layer) == model.blockNumber(layer - 1)) {
                    blocks.set(blocks.size() - 1, new LayerRange(blocks.getLast().first(), layer));
                } else {
                    blocks.add(new LayerRange(layer, layer));
                }
            }
            return blocks;
        }

        private void add(What what, int layer, TrainingPlan plan, int rank) {
            microbatches[what.ordinal()][layer] = keys.size();
            Coordinates at = plan.ranks().coordinates(rank);
            int replica = plan.ranks().replicas().isEmpty() ? BitKey.NONE : at.data();
            for (int microbatch = 0; microbatch < plan.training().plan().microbatchesPerStep(); microbatch++) {
                keys.add(new BitKey(what, plan.globalMicrobatch(rank, microbatch), layer, "", replica, at.tensor()));
            }
        }

        private void addTensors(What what, TrainingPlan plan, int rank, int stage, boolean isEachOnce) {
            Coordinates at = plan.ranks().coordinates(rank);
            LayerRange layers = plan.partition().layers(stage);
            Set<String> names = new HashSet<>();
            for (int layer = layers.first(); layer <= layers.last(); layer++) {
                for (ParameterSpec parameter : plan.model().layers().get(layer).parameters()) {
                    if (parameter.isTrained() && (names.add(parameter.name()) || !isEachOnce)) {
                        tensors.get(what).get(layer).put(parameter.name(), keys.size());
                        keys.add(new BitKey(what, BitKey.NONE, layer, parameter.name(), at.data(), at.tensor()));
                    }
                }
            }
        }

        /** Returns the place of the output of a layer for a microbatch of the rank's pipeline. */
        int place(What what, int layer, int microbatch) {
            int first = microbatches[what.ordinal()][layer];
            if (first == NOWHERE) {
                throw new IllegalStateException("no digest of " + what + " of layer " + layer + " is planned");
            }
            return first + microbatch;
        }

        int place(What what, LayerRange layers, String tensor) {
            List<Map<String, Integer>> ofLayers = tensors.get(what);
            for (int layer = layers.first(); layer <= layers.last(); layer++) {
                Integer place = ofLayers.get(layer).get(tensor);
                if (place != null) {
                    return place;
                }
            }
            throw new IllegalStateException("no digest of " + what + " of " + tensor + " is planned");
        }

        int count() {
            return keys.size();
        }

        /** Returns the first place of the digests that are known only after the update. */
        int firstOfWeights() {
            return firstOfWeights;
        }
    }
}
