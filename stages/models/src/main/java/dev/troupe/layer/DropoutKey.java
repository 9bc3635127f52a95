package dev.troupe.layer;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.router.RowDraws;
import dev.troupe.layer.drop.LayerDrop;

/**
 * The dropouts and other draws of one microbatch in one step. They are functions of the key, so no mask is kept.
 *
 * @param probability the probability that an element is dropped
 * @param adapterProbability the probability for an element of an adapter's input
 * @param layers the drop of whole halves of blocks
 * @param microbatch over all data-parallel ranks
 * @param length tokens of each sequence of the microbatch
 * @param wholeLength tokens of a sequence with all padding: the mask does not depend on {@code length}
 */
public record DropoutKey(double probability, double adapterProbability, LayerDrop layers, long seed, long step,
        long microbatch, int length, int wholeLength) {
    /** Nothing is dropped, as in the measurement of a loss. */
    public static final DropoutKey NONE = new DropoutKey(0, 0, LayerDrop.NONE, 0, 0, 0, 1, 1);

    /** Sites of adapters are counted down from here, so that the others keep their numbers. */
    private static final int LAST_SITE = 0xFFFF;
    /** The site of the gates of all halves. */
    private static final int GATES = LAST_SITE / 2 + 1;
    private static final int HALVES = 2;

    /** The places of a layer with dropout. Their order must not change, since masks depend on it. */
    public enum Site {
        EMBEDDING, ATTENTION, ATTENTION_OUTPUT, MLP_OUTPUT
    }

    boolean drops() {
        return probability > 0;
    }

    /**
     * Returns the factor of the addend of a half of a block: 0 if it is dropped, else the reciprocal of its probability.
     *
     * @param layer the block's number
     * @param site the end of the half
     */
    public double ofHalf(int layer, Site site) {
        if (!layers.drops()) {
            return 1;
        }
        if (!layers.draws()) {
            return 1 / layers.keep();
        }
        double dropped = layers.dropProbability(step, layer);
        return dropped == 0
                ? 1
                : new Dropout(dropped, seed, step, microbatch, GATES, 1, 0, 0).reader()
                        .factor((long) HALVES * layer + (site == Site.MLP_OUTPUT ? 1 : 0));
    }

    /**
     * Returns the dropout of some rows of the residual stream.
     *
     * @param firstRow the first of the rows in the whole microbatch
     */
    Dropout ofRows(int layer, Site site, int columns, int firstRow) {
        return at(layer, site, columns, firstRow, 0);
    }

    /** Returns the dropout of the probabilities of some heads of a layer. */
    public Dropout ofHeads(int layer, int allHeads, int firstHead) {
        return at(layer, Site.ATTENTION, allHeads, 0, firstHead);
    }

    /** Returns the random numbers of the rows of a layer's router. Its sites are counted down from the middle. */
    public RowDraws ofRouter(int layer) {
        return new RowDraws(seed, step, microbatch, LAST_SITE / 2 - layer & LAST_SITE, length, wholeLength);
    }

    public boolean dropsInputs() {
        return adapterProbability > 0;
    }

    /** Returns the dropout of an adapter's input. */
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
