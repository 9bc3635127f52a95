package dev.troupe.run.news;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RowPosition;
import dev.troupe.protocol.watch.RankStatus;
import dev.troupe.protocol.watch.StallWatch.Stall;
import dev.troupe.protocol.watch.StallWatch.Standstill;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class StallDrawingTest {
    private static final long SECOND = 1_000_000_000L;

    private static TrainingPlan plan(int data) {
        ModelSpec model = new Gpt2(2, 8, 2, 6, 10, false, Gpt2.NORM_EPSILON).spec();
        return TrainingPlan.of(model, new StageSettings(1, 6, 2 * data, new Optimizer.Sgd(0)), "uniform",
                Schedules.named("1f1b"), new ParallelLayout(2, data, 1), false, Zero.NONE, 1, 1, 2);
    }

    private static Standstill rank(int rank, String situation, Optional<RowPosition> position, String... stack) {
        return new Standstill(new RankStatus(rank, 3, stack.length > 0, situation, position, List.of(stack)),
                (rank + 40) * SECOND);
    }

    private static Optional<RowPosition> at(int position) {
        return Optional.of(new RowPosition(Pass.Kind.TRAINING, position));
    }

    @Test
    void shouldShowTheRankThatHangsAndTheWaitsOfTheOthers() {
        Stall stall = new Stall(OptionalInt.of(1), "rank 1 hangs",
                List.of(rank(0, "waiting for 0RECV_B0 in step 2", at(4)),
                        rank(1, "computing 1F0 in step 2", at(1), "engine.spin", "worker.run")));
        assertEquals(
                """
                        rank 1 hangs

                        rank 0 is waiting for 0RECV_B0 in step 2, from rank 1; it has not moved for 40.0 s
                        rank 1 is computing 1F0 in step 2; it has not moved for 41.0 s <-- hangs

                        row of rank 1:
                          1RECV_F0 >>1F0<< 1B0 1SEND_B0 1RECV_F1 1F1 1B1 1SEND_B1 1NORM 1UPDATE 1SNAPSHOT

                        where every rank is:
                        1f1b: 2 ranks, 2 stages, 2 microbatches
                                0           1           2           3           4           5           6           7           8
                        rank 0  0F0         0SEND_F0    0F1         0SEND_F1   [0RECV_B0]   0B0         0RECV_B1    0B1         0NORM
                                                                                ^^^^^^^^ rank 0
                        rank 1  1RECV_F0   [1F0]        1B0         1SEND_B0    1RECV_F1    1F1         1B1         1SEND_B1    1NORM
                                            ^^^ RANK 1 HANGS HERE
                                9           10
                        rank 0  0UPDATE     0SNAPSHOT
                        rank 1  1UPDATE     1SNAPSHOT

                        the thread of rank 1 is at
                          engine.spin
                          worker.run
                        """,
                StallDrawing.draw(plan(1), stall));
    }

    @Test
    void shouldDrawRanksThatShareALineTogether() {
        Stall stall = new Stall(OptionalInt.of(3), "rank 3 hangs",
                List.of(rank(0, "waiting for 0RECV_B0 in step 2", at(2)), rank(1, "computing 0F0 in step 2", at(0)),
                        rank(2, "computing 1F0 in step 2", at(1)), rank(3, "computing 1F0 in step 2", at(1))));
        String text = StallDrawing.draw(plan(2), stall);
        assertTrue(text.contains("ranks that share their stages share a line:"), text);
        for (String caption : List.of("^ rank 0\n", "^ rank 1\n", "^ rank 2\n", "^ RANK 3 HANGS HERE\n")) {
            assertTrue(text.contains(caption), text);
        }
        assertFalse(text.contains("^ rank 3"), text);
    }

    @Test
    void shouldMarkSharedPositionsOnce() {
        Stall stall = new Stall(OptionalInt.empty(), "no rank has moved",
                List.of(rank(0, "waiting for 0RECV_B0 in step 2", at(2)),
                        rank(1, "waiting for 0RECV_B0 in step 2", at(2))));
        String text = StallDrawing.draw(plan(2), stall);
        assertTrue(text.contains("^ ranks 0, 1\n"), text);
        assertFalse(text.contains("row of rank"), text);
    }

    @Test
    void shouldDrawTheEndOfARowAndLeaveOutRanksInAnotherPass() {
        int end = plan(1).row(Pass.Kind.TRAINING, 1).actions().size();
        Stall stall = new Stall(OptionalInt.of(1), "rank 1 hangs",
                List.of(rank(0, "waiting for the coordinator", Optional.of(new RowPosition(Pass.Kind.VALIDATION, 0))),
                        rank(1, "computing the update", at(end))));
        String text = StallDrawing.draw(plan(1), stall);
        assertTrue(text.contains(">>end of the row<<\n"), text);
        assertTrue(text.contains("[?]"), text);
        assertFalse(text.contains("^ rank 0"), text);
    }

    @Test
    void shouldDrawNothingIfTheRankThatHangsIsInNoPass() {
        Stall stall = new Stall(OptionalInt.of(1), "rank 1 hangs",
                List.of(rank(0, "waiting for 0RECV_B0 in step 2", at(4)),
                        rank(1, "writing its part of a checkpoint", Optional.empty())));
        assertEquals("""
                rank 1 hangs

                rank 0 is waiting for 0RECV_B0 in step 2, from rank 1; it has not moved for 40.0 s
                rank 1 is writing its part of a checkpoint; it has not moved for 41.0 s <-- hangs
                """, StallDrawing.draw(plan(1), stall));
    }
}
