package dev.troupe.protocol;

/**
 * The mean loss of one microbatch's tokens.
 *
 * @param experts the measures of experts in all microbatches of a report, in one of its losses; null in the others, so that
 *     a report of many microbatches remains small
 */
public record MicrobatchLoss(int microbatch, double loss, ExpertMeasures experts) {
    /** Creates the loss of a model without experts. */
    public MicrobatchLoss(int microbatch, double loss) {
        this(microbatch, loss, null);
    }
}
