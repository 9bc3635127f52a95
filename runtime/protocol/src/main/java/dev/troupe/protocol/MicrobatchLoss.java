package dev.troupe.protocol;

/** The mean loss of one microbatch's tokens. */
public record MicrobatchLoss(int microbatch, double loss) {
}
