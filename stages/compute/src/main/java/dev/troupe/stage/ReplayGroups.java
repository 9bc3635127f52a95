package dev.troupe.stage;

import dev.troupe.layer.Layer;
import dev.troupe.layer.ResidualLayer;
import dev.troupe.model.LayerSpec;
import java.util.ArrayList;
import java.util.List;

/**
 * The groups of a stage's layers that are replayed together, and the layers that are replayed ahead of the gradient. Only
 * the first layer of a group keeps its input. Layers are counted from the stage's first. Immutable.
 */
public final class ReplayGroups {
    private final int[] first;
    private final int[] last;
    private final int firstAhead;
    private final int endAhead;
    private final long blocks;
    private final int keptInputs;
    private final int[] inputs;

    private ReplayGroups(List<Boolean> isBlock, Recompute recompute, Replay replay) {
        int every = recompute == Recompute.FULL ? replay.every() : 1;
        first = new int[isBlock.size()];
        last = new int[isBlock.size()];
        for (int layer = 0; layer < isBlock.size(); layer++) {
            boolean joins = layer > 0 && isBlock.get(layer) && isBlock.get(layer - 1)
                    && layer - first[layer - 1] < every;
            first[layer] = joins ? first[layer - 1] : layer;
            for (int member = first[layer]; member <= layer; member++) {
                last[member] = layer;
            }
        }
        int end = isBlock.size();
        while (end > 0 && !isBlock.get(end - 1)) {
            end--;
        }
        int begin = end;
        int most = recompute == Recompute.FULL ? replay.ahead() : 0;
        while (begin > 0 && isBlock.get(begin - 1) && end - first[begin - 1] <= most) {
            begin = first[begin - 1];
        }
        firstAhead = begin;
        endAhead = end;
        blocks = isBlock.stream().filter(each -> each).count();
        int kept = 0;
        inputs = new int[isBlock.size()];
        for (int layer = 0; layer < isBlock.size(); layer++) {
            inputs[layer] = isBlock.get(layer) && first[layer] == layer ? kept++ : -1;
        }
        keptInputs = kept;
    }

    static ReplayGroups of(List<Layer> layers, Recompute recompute, Replay replay) {
        return new ReplayGroups(layers.stream().map(ResidualLayer.class::isInstance).toList(), recompute, replay);
    }

    /** Returns the groups of a model's layers, both halves of a block as one. */
    public static ReplayGroups ofSpecs(List<LayerSpec> layers, Recompute recompute, Replay replay) {
        List<Boolean> isBlock = new ArrayList<>();
        for (int layer = 0; layer < layers.size(); layer++) {
            if (layer == 0 || !layers.get(layer).block().equals(layers.get(layer - 1).block())) {
                isBlock.add(layers.get(layer).isHalf());
            }
        }
        return new ReplayGroups(isBlock, recompute, replay);
    }

    /** Returns the layer of this one's group that keeps its input. */
    public int first(int layer) {
        return first[layer];
    }

    /** Returns the last layer of this one's group, with a known output. */
    public int last(int layer) {
        return last[layer];
    }

    /** Returns the first layer that is replayed ahead; {@link #endAhead} if there is none. */
    int firstAhead() {
        return firstAhead;
    }

    /** Returns the layer after the last one that is replayed ahead. */
    int endAhead() {
        return endAhead;
    }

    /** Returns the number of inputs of blocks that a microbatch keeps. */
    public int keptInputs() {
        return keptInputs;
    }

    /** Returns the number of the input that a layer keeps as a block, from 0; -1 if it keeps none. */
    int input(int layer) {
        return inputs[layer];
    }

    /** Returns the share of the stage's blocks that is replayed ahead; 0 if it has none. */
    public double shareAhead() {
        return blocks == 0 ? 0 : (double) (endAhead - firstAhead) / blocks;
    }

    public boolean isAhead(int layer) {
        return firstAhead <= layer && layer < endAhead;
    }
}
