package dev.troupe.protocol;

/**
 * The mean loss of one microbatch's tokens.
 *
 * @param auxiliary the auxiliary loss of its experts, without a coefficient; NaN if the model has none
 */
public record MicrobatchLoss(int microbatch, double loss, double auxiliary) {
    /** Creates the loss of a model without experts. */
    public MicrobatchLoss(int microbatch, double loss) {
        this(microbatch, loss, Double.NaN);
    }
}
