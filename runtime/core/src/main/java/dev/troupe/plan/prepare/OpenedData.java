package dev.troupe.plan.prepare;

import dev.troupe.batch.Sequences;
import dev.troupe.batch.TextSequences;
import dev.troupe.data.DataException;
import dev.troupe.data.DataSplit;
import dev.troupe.data.Tokens;
import dev.troupe.rows.PackedRows;
import dev.troupe.rows.RowFigures;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * Training data, and validation data if there are any.
 *
 * @param trainingAmount their amount as text
 * @param validationAmount their amount as text; empty if there are none
 */
record OpenedData(String name, Sequences training, String trainingAmount, Optional<Sequences> validation,
        String validationAmount) {
    static OpenedData of(Tokens all, DataSplit split, int sequenceLength) {
        Function<Tokens, String> amount = tokens -> String.format(Locale.ROOT, "%,d", tokens.length());
        return new OpenedData(all.name(), new TextSequences(split.training(), sequenceLength),
                amount.apply(split.training()) + " tokens",
                split.validation().map(part -> new TextSequences(part, sequenceLength)),
                split.validation().map(amount).orElse(""));
    }

    /** Returns the rows of documents to train on, and others for validation. */
    static OpenedData of(PackedRows training, Optional<PackedRows> validation) {
        return new OpenedData(training.name(), training, amount(training.figures()), validation.map(rows -> rows),
                validation.map(rows -> amount(rows.figures())).orElse(""));
    }

    /**
     * Returns rows of documents, with the last part of them for validation.
     *
     * @param fraction of the rows, rounded to a whole number of them; 0: none
     * @throws DataException if a part would have no row
     */
    static OpenedData of(PackedRows all, double fraction) {
        if (fraction == 0) {
            return of(all, Optional.empty());
        }
        long validated = Math.round(all.rowCount() * fraction);
        long kept = all.rowCount() - validated;
        if (validated < 1 || kept < 1) {
            throw new DataException(all.name() + " has " + all.rowCount()
                    + " rows, of which data.validation-fraction = " + fraction + " leaves " + kept
                    + " for training and " + validated
                    + " for validation, but either needs one; change the fraction (0 for none) or use more documents");
        }
        return of(all.part(all.name() + ", training part", 0, kept),
                Optional.of(all.part(all.name() + ", validation part", kept, validated)));
    }

    private static String amount(RowFigures figures) {
        return String.format(Locale.ROOT, "%,d rows of %,d documents (%,d targets count, %.0f %% padding)",
                figures.rows(), figures.documents(), figures.countedTargets(), 100 * figures.paddingShare());
    }

    /** Whether a sequence may have several documents that must not see each other. */
    boolean separatesDocuments() {
        return training.separatesDocuments() || validation.filter(Sequences::separatesDocuments).isPresent();
    }
}
