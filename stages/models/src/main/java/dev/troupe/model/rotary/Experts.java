package dev.troupe.model.rotary;

import dev.troupe.engine.router.Router;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.ExpertTraining;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * The experts of a model's blocks.
 *
 * @param count experts E of a layer
 * @param perToken experts k of a row
 * @param inner inner width I of an expert
 * @param sharedInner inner width of the shared experts together; 0 for none
 * @param router the rule of the choice
 * @param every every so many blocks one has experts, the last of them; 1: all
 * @param denseBlocks further blocks without experts, from 0, in ascending order
 * @param training the losses, the capacity and the update of the bias
 */
public record Experts(int count, int perToken, int inner, int sharedInner, Router router, int every,
        List<Integer> denseBlocks, ExpertTraining training) {
    /** The most experts of all blocks together. Each has its own tensors, which are declared before a file is compared. */
    private static final int MOST = 65_536;

    public Experts {
        // In order, as every block is looked up.
        denseBlocks = denseBlocks.stream().distinct().sorted().toList();
        if (perToken > count) {
            throw new IllegalArgumentException(
                    "a token has " + perToken + " experts (model.experts-per-token), but there"
                            + " are " + count + " (model.experts): change one of them");
        }
        router.refusal(count, perToken).ifPresent(refusal -> {
            throw new IllegalArgumentException(refusal);
        });
        if (training.auxiliaryLoss() > 0 && !router.scoresAddUpToOne()) {
            throw new IllegalArgumentException("an auxiliary loss (model.auxiliary-loss) needs scores that add up to 1,"
                    + " but the scores of this router do not: set it to 0, and model.bias-update-rate in its place");
        }
        if (training.biasUpdateRate() > 0 && !router.choosesByBias()) {
            throw new IllegalArgumentException(
                    "a rate of the bias of the choice (model.bias-update-rate) needs a router"
                            + " with such a bias, as of glm4_moe: set it to 0, and model.auxiliary-loss in its place");
        }
        if (training.drawsSecond() && perToken != 2) {
            throw new IllegalArgumentException(
                    "the second expert is drawn (model.random-second-expert) if a token has 2"
                            + " experts (model.experts-per-token), but found " + perToken + ": change one of them");
        }
    }

    boolean areIn(int block) {
        return (block + 1) % every == 0 && Collections.binarySearch(denseBlocks, block) < 0;
    }

    /** Returns the number of blocks with experts. Blocks above the most of a model are not counted, as it is refused. */
    int blocksOf(int layers) {
        return (int) IntStream.range(0, Math.min(layers, ModelSpec.MOST_BLOCKS)).filter(this::areIn).count();
    }

    /**
     * Requires that some blocks have experts, and not too many.
     *
     * @throws IllegalArgumentException if none has, or together they have more than the most, or a dense block is not there
     */
    void requireIn(int layers) {
        if (!denseBlocks.isEmpty() && (denseBlocks.getFirst() < 0 || denseBlocks.getLast() >= layers)) {
            throw new IllegalArgumentException("the blocks without experts must be among the " + layers
                    + " of model.layers, counted from 0, but found " + (denseBlocks.getFirst() < 0
                            ? denseBlocks.getFirst()
                            : denseBlocks.getLast()));
        }
        int blocks = blocksOf(layers);
        if (blocks == 0) {
            throw new IllegalArgumentException(
                    "none of the " + layers + " blocks (model.layers) has experts: change the"
                            + " layers, or take a family without experts");
        }
        if ((long) blocks * count > MOST) {
            throw new IllegalArgumentException(String.format(Locale.ROOT,
                    "%,d blocks with %,d experts each (model.layers, model.experts) are more than the %,d experts that a"
                            + " model can have in all: lower one of them",
                    blocks, count, MOST));
        }
    }
}
