package dev.troupe.rank.bits;

import dev.troupe.batch.Batches;
import dev.troupe.plan.TrainingPlan;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The place of an output in the model and in the data, as text. */
@FunctionalInterface
public interface OutputPlace {
    /**
     * Returns the action, layer and stage of an output, and its tensor; or its microbatch with the positions of its data.
     */
    String words(long step, BitKey output);

    static OutputPlace of(TrainingPlan plan, Batches batches) {
        return (step, key) -> {
            int stage = plan.partition().stageOf(key.layer());
            String where = key.what().action() + " of layer " + key.layer() + " ("
                    + plan.model().layers().get(key.layer()).name() + ") on stage " + stage;
            return key.what().isPerMicrobatch()
                    ? where + ", microbatch " + key.microbatch() + " of the step, with sequences at "
                            + positions(batches, plan.stageSettings().microbatchSize(), step, key.microbatch())
                            + " of the data"
                    : where + ", tensor " + key.tensor();
        };
    }

    private static String positions(Batches batches, int size, long step, int microbatch) {
        return IntStream.range(microbatch * size, (microbatch + 1) * size)
                .mapToObj(sequence -> Long.toString(batches.position(step, sequence)))
                .collect(Collectors.joining(", "));
    }
}
