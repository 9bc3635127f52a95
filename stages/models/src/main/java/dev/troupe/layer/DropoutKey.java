package dev.troupe.layer;

import dev.troupe.engine.Dropout;

/**
 * The dropouts of one microbatch in one step. Whoever asks twice gets the same, so no mask is kept.
 *
 * @param probability of an element to go
 * @param adapterProbability of an element of an adapter's input to go
 * @param seed of the run
 * @param step of the run
 * @param microbatch over all data-parallel ranks
 * @param length tokens of each sequence of the microbatch
 * @param wholeLength tokens of a sequence that has no padding left out: the mask does not depend on {@code length}
 */
public record DropoutKey(double probability, double adapterProbability, long seed, long step, long microbatch,
        int length, int wholeLength) {
    /** Nothing drops out, as if a loss is measured. */
    public static final DropoutKey NONE = new DropoutKey(0, 0, 0, 0, 0, 1, 1);

    /** Sites of adapters are counted from here downwards, so that the others keep theirs. */
    private static final int LAST_SITE = 0xFFFF;

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
     * @param layer number of the layer in the model
     * @param columns of the stream
     * @param firstRow the first of the rows in the whole microbatch
     */
    Dropout ofRows(int layer, Site site, int columns, int firstRow) {
        return at(layer, site, columns, firstRow, 0);
    }

    /**
     * The dropout of the probabilities of some heads of a layer.
     *
     * @param layer number of the layer in the model
     * @param allHeads of the layer
     * @param firstHead the first of the heads
     */
    public Dropout ofHeads(int layer, int allHeads, int firstHead) {
        return at(layer, Site.ATTENTION, allHeads, 0, firstHead);
    }

    /** Whether a part of what adapters read goes. */
    public boolean dropsInputs() {
        return adapterProbability > 0;
    }

    /**
     * The dropout of an adapter's input.
     *
     * @param adapter the adapter's number in the model
     * @param allColumns of the whole input
     * @param firstColumn the first of the columns that are here
     */
    public Dropout ofInput(int adapter, int allColumns, int firstColumn) {
        return new Dropout(adapterProbability, seed, step, microbatch, LAST_SITE - adapter, allColumns, 0, firstColumn,
                length, wholeLength);
    }

    private Dropout at(int layer, Site site, int columns, int firstRow, int firstColumn) {
        return drops()
                ? new Dropout(probability, seed, step, microbatch, layer * Site.values().length + site.ordinal(),
                        columns, firstRow, firstColumn, length, wholeLength)
                : Dropout.NONE;
    }
}
