package dev.troupe.plan;

import dev.troupe.config.spec.DropSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.layer.drop.LayerDrop;
import dev.troupe.model.ModelSpec;

/** The gates of a run's halves of blocks. */
public final class DroppedHalves {
    private DroppedHalves() {
    }

    /**
     * Returns the gates that {@code training.layer-drop} asks for. A resumed run with other steps has other probabilities.
     *
     * @throws UsageException if the model has experts: ranks that share them out exchange rows of every microbatch
     */
    public static LayerDrop of(TrainingSpec training, ModelSpec model) {
        DropSpec drop = training.drop();
        if (!drop.dropsHalves()) {
            return LayerDrop.NONE;
        }
        if (model.balance().isPresent()) {
            throw new UsageException("training.layer-drop.keep = " + drop.keep() + ", but the model has experts, and a"
                    + " microbatch that skips them has no loads to balance: set it to 1, or take a model without experts");
        }
        return new LayerDrop(drop.keep(), drop.decay() / training.steps(), model.blockCount(), true);
    }
}
