package dev.troupe.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class TrainingPlanTest {
    @Test
    void shouldShareTheMicrobatchesOfAStepOutInTheirOrder() {
        ModelSpec model = new Gpt2(2, 8, 2, 6, 10, false, Gpt2.NORM_EPSILON).spec();
        TrainingPlan plan = TrainingPlan.of(model, new StageSettings(1, 6, 8, new Optimizer.Sgd(0)), "uniform",
                Schedules.named("1f1b"), new ParallelLayout(2, 4, 1), false, Zero.NONE, 1, 1, 2);
        assertEquals(2, plan.training().plan().microbatchCount());
        for (int place = 0; place < 2; place++) {
            List<Integer> taken = new ArrayList<>();
            for (int rank = 4 * place; rank < 4 * place + 4; rank++) {
                taken.add(plan.globalMicrobatch(rank, 0));
                taken.add(plan.globalMicrobatch(rank, 1));
            }
            assertEquals(IntStream.range(0, 8).boxed().toList(), taken);
        }
    }
}
