package dev.troupe.data;

import java.util.Optional;

/**
 * The training data and the validation data.
 *
 * @param training the tokens that the model learns from
 * @param validation the tokens of the validation loss, which it never learns, if any
 */
public record DataSplit(Tokens training, Optional<Tokens> validation) {
    /**
     * Returns a whole corpus for training, and another for validation; each must have one sequence and the token after it.
     */
    public static DataSplit of(Tokens training, Tokens validation, int sequenceLength) {
        training.requireSequence(sequenceLength);
        validation.requireSequence(sequenceLength);
        return new DataSplit(training, Optional.of(validation));
    }

    /**
     * Takes the last part of a corpus for validation.
     *
     * @param fraction of the tokens, rounded to a whole number of them; 0 for none
     * @param sequenceLength both parts must have one sequence and the token after it
     * @throws DataException if a part is too short, with the numbers
     */
    public static DataSplit of(Tokens all, double fraction, int sequenceLength) {
        if (!(fraction >= 0 && fraction < 1)) {
            throw new DataException("data.validation-fraction must be at least 0 and below 1, but found " + fraction);
        }
        all.requireSequence(sequenceLength);
        if (fraction == 0) {
            return new DataSplit(all, Optional.empty());
        }
        long validated = Math.round(all.length() * fraction);
        long kept = all.length() - validated;
        long needed = sequenceLength + 1L;
        if (validated < needed || kept < needed) {
            throw new DataException(
                    all.name() + " has " + all.length() + " tokens, of which data.validation-fraction = "
                            + fraction + " leaves " + kept + " for training and " + validated
                            + " for validation, but one sequence of "
                            + sequenceLength + " needs " + needed
                            + " in either; change the fraction (0 for none) or use more text");
        }
        return new DataSplit(all.part(all.name() + ", training part", 0, kept),
                Optional.of(all.part(all.name() + ", validation part", kept, validated)));
    }
}
