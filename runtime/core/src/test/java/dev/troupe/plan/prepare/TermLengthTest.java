package dev.troupe.plan.prepare;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.engine.DataType;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import dev.troupe.transport.TransportSettings;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A term is twice the bytes that credits allow in flight between two nodes: here two messages of 256 rows on each edge. */
class TermLengthTest {
    private static final int ROWS = 256;
    private static final int MEBIBYTE = 1 << 20;

    private static int term(int hidden, int vocabulary, boolean tied, DataType type, List<Integer> nodeOfRank) {
        ParallelLayout ranks = new ParallelLayout(nodeOfRank.size(), 1, 1);
        TrainingPlan plan = TrainingPlan.of(new Gpt2(4, hidden, 2, ROWS, vocabulary, tied, 1e-5).spec(),
                new StageSettings(1, ROWS, 4, new Optimizer.Sgd(0)), "uniform", Schedules.named("1f1b"), ranks, false,
                Zero.NONE, 1, 1, 2);
        return TermLength.of(plan, type, nodeOfRank);
    }

    @Test
    void shouldCountActionsInProgressTwice() {
        assertEquals(4 * MEBIBYTE, term(1024, 8, false, DataType.FLOAT32, List.of(0, 1)));
        assertEquals(2 * MEBIBYTE, term(1024, 8, false, DataType.BFLOAT16, List.of(0, 1)));
        assertEquals(4 * MEBIBYTE, term(1000, 8, false, DataType.FLOAT32, List.of(0, 1)), "rounded up");
    }

    @Test
    void shouldAddUpTheEdgesOfAStream() {
        // Within node 0 the edges from rank 0 to rank 1 and back; from node to node one each way.
        assertEquals(8 * MEBIBYTE, term(1024, 8, false, DataType.FLOAT32, List.of(0, 0, 1)));
        assertEquals(4 * MEBIBYTE, term(256, 8, false, DataType.FLOAT32, List.of(0, 0, 0)));
    }

    @Test
    void shouldCountTheGradientOfATiedTable() {
        // [1024 x 256] once a step, in addition to two messages of [256 x 256].
        assertEquals(4 * MEBIBYTE, term(256, 1024, true, DataType.FLOAT32, List.of(0, 1)));
        assertEquals(1 * MEBIBYTE, term(256, 1024, false, DataType.FLOAT32, List.of(0, 1)));
    }

    @Test
    void shouldStayWithinItsBounds() {
        assertEquals(TransportSettings.MIN_TERM_LENGTH, term(8, 8, true, DataType.FLOAT32, List.of(0, 1)));
        assertEquals(TransportSettings.DEFAULT_TERM_LENGTH, term(8192, 8, true, DataType.FLOAT32, List.of(0, 1)));
    }
}
