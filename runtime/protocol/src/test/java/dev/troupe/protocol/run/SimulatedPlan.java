package dev.troupe.protocol.run;

import dev.troupe.protocol.rank.RunPlan;
import dev.troupe.schedule.certificate.Certificate;

/**
 * The plan of a simulated run.
 *
 * @param tied
 *            whether the first and the last stage have a parameter in common
 */
record SimulatedPlan(boolean tied, Certificate training, Certificate validation) implements RunPlan {
    private static final int LAYERS_PER_STAGE = 2;

    @Override
    public int ranksPerPlace() {
        return 1;
    }

    int stageCount() {
        return training.plan().stageCount();
    }

    /** A stage with the weights that every run starts from. */
    SimulatedStage newStage(int stage) {
        return new SimulatedStage(stage, stage * LAYERS_PER_STAGE, (stage + 1) * LAYERS_PER_STAGE - 1);
    }
}
