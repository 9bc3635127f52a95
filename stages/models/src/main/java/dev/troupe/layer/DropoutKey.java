package dev.troupe.layer;

import dev.troupe.engine.Dropout;

/**
 * The dropouts of one microbatch in one step. Whoever asks twice gets the same, so no mask is kept.
 *
 * @param probability
 *            of an element to go
 * @param seed
 *            of the run
 * @param step
 *            of the run
 * @param microbatch
 *            over all data-parallel ranks
 */
public record DropoutKey(double probability, long seed, long step, long microbatch) {
    /** Nothing drops out, as where a loss is measured. */
    public static final DropoutKey NONE = new DropoutKey(0, 0, 0, 0);

    /** The places of a layer. Their order is part of what a seed means. */
    public enum Site {
        EMBEDDING, ATTENTION, ATTENTION_OUTPUT, MLP_OUTPUT
    }

    boolean drops() {
        return probability > 0;
    }

    /**
     * The dropout of some rows of the residual stream.
     *
     * @param layer
     *            number of the layer in the model
     * @param columns
     *            of the stream
     * @param firstRow
     *            the first of the rows in the whole microbatch
     */
    Dropout ofRows(int layer, Site site, int columns, int firstRow) {
        return at(layer, site, columns, firstRow, 0);
    }

    /**
     * The dropout of the probabilities of some heads of a layer.
     *
     * @param layer
     *            number of the layer in the model
     * @param allHeads
     *            of the layer
     * @param firstHead
     *            the first of the heads
     */
    public Dropout ofHeads(int layer, int allHeads, int firstHead) {
        return at(layer, Site.ATTENTION, allHeads, 0, firstHead);
    }

    private Dropout at(int layer, Site site, int columns, int firstRow, int firstColumn) {
        return drops()
                ? new Dropout(probability, seed, step, microbatch, layer * Site.values().length + site.ordinal(),
                        columns, firstRow, firstColumn)
                : Dropout.NONE;
    }
}
