package dev.troupe.protocol.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.run.LayerSquaredSum;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class LossWatchTest {
    private final LossWatch watch = new LossWatch();
    private final Random random = new Random(1);
    private long step;

    /** A step of two ranks, two microbatches and two blocks; one microbatch and one block are far above usual. */
    private Optional<LossWatch.Spike> step(int microbatch, double loss, int block, double norm, double lossScale) {
        double[] losses = {3 + 0.1 * random.nextGaussian(), 3 + 0.1 * random.nextGaussian()};
        double[] norms = {1 + random.nextDouble(), 1 + random.nextDouble()};
        losses[microbatch] = loss;
        norms[block] = norm;
        watch.measured(step, 1, List.of(new MicrobatchLoss(0, losses[0]), new MicrobatchLoss(1, losses[1])),
                List.of(new LayerSquaredSum(1, 0, norms[1] * norms[1] * lossScale * lossScale)));
        watch.measured(step, 0, List.of(), List.of(new LayerSquaredSum(0, 0, 0.64 * norms[0] * norms[0] * lossScale
                * lossScale), new LayerSquaredSum(0, 1, 0.36 * norms[0] * norms[0] * lossScale * lossScale)));
        return watch.onStep(new StepResult(step++, (losses[0] + losses[1]) / 2, 1, 0.1, lossScale, false,
                Traffic.NONE));
    }

    private void usual(int steps) {
        for (int i = 0; i < steps; i++) {
            assertEquals(Optional.empty(), step(0, 3, 0, 1.5, i % 2 == 0 ? 1024 : 1));
        }
    }

    @Test
    void shouldNameTheMicrobatchAndTheBlockOfASpike() {
        usual(40);
        LossWatch.Spike spike = step(1, 9, 0, 60, 1).orElseThrow();
        assertEquals(1, spike.microbatch());
        assertEquals(9, spike.highest());
        assertEquals(3, spike.usual(), 0.2);
        assertEquals(0, spike.block());
        assertEquals(40, spike.growth(), 10);
    }

    @Test
    void shouldReportALossThatRemainsHighOnce() {
        usual(25);
        assertTrue(step(0, 9, 1, 60, 1).isPresent());
        assertEquals(Optional.empty(), step(0, 9, 1, 60, 1));
        usual(25);
        assertTrue(step(0, 9, 1, 60, 1).isPresent());
    }

    @Test
    void shouldTakeAGradientThatIsNoNumberForTheOneThatHasGrownMost() {
        usual(20);
        assertEquals(1, step(0, 9, 1, Double.NaN, 1).orElseThrow().block());
    }

    @Test
    void shouldNotCallTheFirstStepsASpike() {
        usual(19);
        assertEquals(Optional.empty(), step(0, 9, 1, 60, 1));
    }

    @Test
    void shouldNotCallANoisyLossASpike() {
        for (int i = 0; i < 2_000; i++) {
            double loss = 2 + random.nextDouble() * 2;
            assertEquals(Optional.empty(), step(0, loss, 0, 1, 1), () -> "step " + step);
        }
    }
}
