package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.run.World.Copies;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One thing goes wrong, at every point of many small runs. The command that repeats a failure is in its message. If only
 * some points are tried, {@code -Dtroupe.sweep.seed=N} deals other ones, so that builds with other numbers cover others.
 */
@Tag("simulation")
class FaultSweepTest {
    private static final long IN_ORDER = 0;
    private static final long OUT_OF_ORDER = 7;
    private static final int STANDBYS = 2;
    static final String SEED_PROPERTY = "troupe.sweep.seed";
    static final long DEALER = Long.getLong(SEED_PROPERTY, 0);
    /** With {@code -Dtroupe.sweep.share=N} the whole sweep takes one of N points. */
    private static final int SHARE = Integer.getInteger("troupe.sweep.share", 1);

    /** Some points of the smallest runs of every schedule, and of larger ones. */
    @Test
    void shouldReachTheSameWeightsAfterASampledFaultInATinyRun() {
        sweep("tiny runs, in order", RunShape.upTo(2, 1, 1), IN_ORDER, Copies.SENT, FaultSweep.STEPS, 29);
        sweep("tiny runs on one machine, in order", RunShape.upTo(2, 1, 1), IN_ORDER, Copies.SHARED, FaultSweep.STEPS,
                67);
        sweep("tiny runs of three steps", RunShape.upTo(2, 1, 1), OUT_OF_ORDER, Copies.SENT, FaultSweep.STEPS + 1, 113);
        sweep("tiny runs, out of order", RunShape.upTo(2, 2, 2), OUT_OF_ORDER, Copies.SENT, FaultSweep.STEPS, 149);
        sweep("tiny runs on one machine, out of order", RunShape.upTo(2, 2, 2), OUT_OF_ORDER, Copies.SHARED,
                FaultSweep.STEPS, 127);
    }

    /** Ranks that share stages, parallel pipelines, and both: a place starts again as one, and groups meet anew. */
    @Test
    void shouldReachTheSameWeightsAfterASampledFaultOnAGrid() {
        sweep("tensor groups, in order", RunShape.upTo(2, 1, 1, new Grid(1, 2)), IN_ORDER, Copies.SENT,
                FaultSweep.STEPS, 761);
        sweep("pipelines side by side, out of order", RunShape.upTo(2, 2, 1, new Grid(2, 1)), OUT_OF_ORDER, Copies.SENT,
                FaultSweep.STEPS, 1601);
        sweep("both on one machine, out of order", RunShape.upTo(2, 1, 1, new Grid(2, 2)), OUT_OF_ORDER, Copies.SHARED,
                FaultSweep.STEPS, 3203);
    }

    /** Passes of three steps that overlap: a rank fails with two of them in flight, one of which is skipped. */
    @Test
    void shouldReachTheSameWeightsAfterASampledFaultWithOverlappingSteps() {
        sweep("overlapping steps, in order", RunShape.overlappingUpTo(2, 1, 1), IN_ORDER, Copies.SENT, FaultSweep.STEPS,
                29);
        sweep("overlapping steps on one machine, out of order", RunShape.overlappingUpTo(3, 2, 2), OUT_OF_ORDER,
                Copies.SHARED, FaultSweep.STEPS, 241);
        sweep("overlapping steps of tensor groups", RunShape.overlappingUpTo(2, 1, 1, new Grid(1, 2)), OUT_OF_ORDER,
                Copies.SENT, FaultSweep.STEPS, 211);
        sweep("overlapping steps of pipelines side by side", RunShape.overlappingUpTo(2, 1, 1, new Grid(2, 1)),
                IN_ORDER,
                Copies.SHARED, FaultSweep.STEPS, 157);
        sweep("overlapping steps in parted networks", RunShape.overlappingUpTo(2, 1, 1), OUT_OF_ORDER, Copies.SENT,
                STANDBYS, FaultSweep.STEPS, 211);
    }

    /** A replica fails at any point of a round: its stage starts again, and the other replicas with it. */
    @Test
    void shouldReachTheSameWeightsAfterASampledFaultOnReplicas() {
        sweep("replicas, in order", List.of(RunShape.replicated(1, 2, 1), RunShape.replicated(1, 1, 2)), IN_ORDER,
                Copies.SENT, FaultSweep.STEPS, 53);
        sweep("replicas on one machine, out of order",
                List.of(RunShape.replicated(2, 2, 1, 1), RunShape.replicated(1, 2, 3)), OUT_OF_ORDER, Copies.SHARED,
                FaultSweep.STEPS, 401);
    }

    @Test
    @Tag("long")
    void shouldReachTheSameWeightsAfterAnySingleFaultOnReplicas() {
        sweep("all replicas, in order", List.of(RunShape.replicated(1, 2, 1), RunShape.replicated(1, 1, 2)), IN_ORDER,
                Copies.SENT, FaultSweep.STEPS, 1);
        sweep("all replicas on one machine, out of order",
                List.of(RunShape.replicated(2, 2, 1, 1), RunShape.replicated(1, 1, 2, 1), RunShape.replicated(1, 2, 2)),
                OUT_OF_ORDER, Copies.SHARED, FaultSweep.STEPS, 3 * SHARE);
    }

    /** A rank fails at every point, a replay among them, of runs that replay forwards ahead of their gradients. */
    @Test
    void shouldReachTheSameWeightsAfterASampledFaultWithReplay() {
        sweep("replays, in order", RunShape.replaying(RunShape.upTo(2, 1, 1)), IN_ORDER, Copies.SENT, FaultSweep.STEPS,
                211);
        sweep("replays in tensor groups", RunShape.replaying(RunShape.upTo(2, 1, 1, new Grid(1, 2))), OUT_OF_ORDER,
                Copies.SENT, FaultSweep.STEPS, 401);
        sweep("replays of overlapping steps", RunShape.replaying(RunShape.overlappingUpTo(2, 1, 1)), OUT_OF_ORDER,
                Copies.SHARED, FaultSweep.STEPS, 61);
    }

    /** With two standbys: the network may part, and each part may have a coordinator for a while. */
    @Test
    void shouldReachTheSameWeightsAfterAnyNetworkPartition() {
        sweep("parted networks", RunShape.upTo(2, 1, 1), OUT_OF_ORDER, Copies.SENT, STANDBYS, FaultSweep.STEPS, 211);
        sweep("parted networks on one machine", RunShape.upTo(2, 1, 1), OUT_OF_ORDER, Copies.SHARED, STANDBYS,
                FaultSweep.STEPS, 307);
    }

    /** Some points of every run, others for each. */
    @Test
    void shouldReachTheSameWeightsAfterASampledFault() {
        sweep("small runs, in order", RunShape.upTo(4, 6, 2), IN_ORDER, Copies.SENT, FaultSweep.STEPS, 5003);
        sweep("small runs on one machine, out of order", RunShape.upTo(4, 6, 1), OUT_OF_ORDER, Copies.SHARED,
                FaultSweep.STEPS, 4999);
    }

    @Test
    @Tag("long")
    void shouldReachTheSameWeightsAfterAnySingleFaultInATinyRun() {
        sweep("all tiny runs, in order", RunShape.upTo(2, 1, 1), IN_ORDER, Copies.SENT, FaultSweep.STEPS, 1);
        sweep("all tiny runs on one machine, in order", RunShape.upTo(2, 1, 1), IN_ORDER, Copies.SHARED,
                FaultSweep.STEPS, 1);
    }

    @Test
    @Tag("long")
    void shouldReachTheSameWeightsAfterAnySingleFault() {
        sweep("all runs, in order", RunShape.upTo(4, 6, 2), IN_ORDER, Copies.SENT, FaultSweep.STEPS, SHARE);
        sweep("all runs on one machine, out of order", RunShape.upTo(4, 6, 1), OUT_OF_ORDER, Copies.SHARED,
                FaultSweep.STEPS, 11 * SHARE);
        sweep("tensor groups", RunShape.upTo(3, 3, 1, new Grid(1, 2)), OUT_OF_ORDER, Copies.SENT, FaultSweep.STEPS,
                17 * SHARE);
        sweep("both", RunShape.upTo(2, 2, 1, new Grid(2, 2)), OUT_OF_ORDER, Copies.SENT, FaultSweep.STEPS, 31 * SHARE);
    }

    @Test
    @Tag("long")
    void shouldReachTheSameWeightsAfterAnySingleFaultWithOverlappingSteps() {
        sweep("all overlapping steps, in order", RunShape.overlappingUpTo(3, 2, 1), IN_ORDER, Copies.SENT,
                FaultSweep.STEPS, SHARE);
        sweep("all overlapping steps on one machine, out of order", RunShape.overlappingUpTo(3, 3, 2), OUT_OF_ORDER,
                Copies.SHARED, FaultSweep.STEPS, 7 * SHARE);
        sweep("all overlapping steps of pipelines side by side", RunShape.overlappingUpTo(2, 2, 1, new Grid(2, 1)),
                OUT_OF_ORDER, Copies.SENT, FaultSweep.STEPS, 5 * SHARE);
        sweep("overlapping steps of both", RunShape.overlappingUpTo(2, 1, 1, new Grid(2, 2)), OUT_OF_ORDER,
                Copies.SHARED,
                FaultSweep.STEPS, 31 * SHARE);
    }

    @Test
    @Tag("long")
    void shouldReachTheSameWeightsAfterAnySingleFaultWithReplay() {
        sweep("all replays, in order", RunShape.replaying(RunShape.upTo(3, 3, 1)), IN_ORDER, Copies.SENT,
                FaultSweep.STEPS, SHARE);
        sweep("all replays of overlapping steps", RunShape.replaying(RunShape.overlappingUpTo(3, 2, 1)), OUT_OF_ORDER,
                Copies.SHARED, FaultSweep.STEPS, SHARE);
    }

    @Test
    void shouldTryThePointThatIsNamed() {
        String point = System.getProperty(FaultSweep.POINT_PROPERTY, "gpipe,2,1,2,tied,1,1,1,0,SENT,0,2,60,CRASH,1");
        assertTrue(FaultSweep.tryNamed(point), point + " is no point of its run");
    }

    private static void sweep(String name, List<RunShape> shapes, long seed, Copies copies, int steps,
            int stride) {
        sweep(name, shapes, seed, copies, 0, steps, stride);
    }

    private static void sweep(String name, List<RunShape> shapes, long seed, Copies copies, int standbys, int steps,
            int stride) {
        long start = System.nanoTime();
        long points = InParallel.sum(shapes.stream(), shape -> {
            FaultSweep sweep = new FaultSweep(shape, seed, copies, standbys, steps, Protocol.WHOLE);
            try {
                return sweep.points(stride, DEALER).stream().filter(sweep::tries).count();
            } catch (AssertionError failure) {
                throw new AssertionError("dealt by -D" + SEED_PROPERTY + "=" + DEALER + "; the point alone: "
                        + failure.getMessage(), failure);
            }
        });
        System.out.printf("sweep of %s: %,d points of %,d shapes in %.1f s, dealt by -D%s=%d%n", name, points,
                shapes.size(), (System.nanoTime() - start) / 1e9, SEED_PROPERTY, DEALER);
        assertTrue(points > shapes.size(), "hardly anything went wrong: " + points);
    }
}
