package dev.troupe.schedule.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.PlanRows;
import dev.troupe.schedule.family.OneForwardOneBackward;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Plans that are never held as objects. */
@Tag("plan")
class LargeSimulationTest {
    @Test
    void shouldSimulate512RanksWith2048Microbatches() {
        Simulation simulation = simulate(512, 2048);
        assertEquals(3L * (2048 + 511), simulation.makespanNanos());
        assertEquals(511.0 / 2048, simulation.bubbleOverIdeal(), 1e-12);
        assertEquals(simulation.makespanNanos(), lengthOfPath(simulation));
    }

    /** 134 million actions and the same number of messages; the heap of the tests, 2 GiB, is the bound. */
    @Test
    @Tag("long")
    void shouldSimulate4096RanksWith16384MicrobatchesWithin2GiB() {
        long before = System.nanoTime();
        Simulation simulation = simulate(4096, 16_384);
        double seconds = (System.nanoTime() - before) / 1e9;
        Runtime memory = Runtime.getRuntime();
        System.out.printf("4096 ranks x 16384 microbatches: %.1f s, heap %d MiB of %d%n", seconds,
                memory.totalMemory() - memory.freeMemory() >> 20, memory.maxMemory() >> 20);
        assertEquals(3L * (16_384 + 4095), simulation.makespanNanos());
        assertEquals(simulation.makespanNanos(), lengthOfPath(simulation));
        assertTrue(memory.maxMemory() <= 2L << 30, "the heap is larger than 2 GiB");
    }

    private static Simulation simulate(int pipeline, int microbatches) {
        PlanRows rows = new OneForwardOneBackward().rows(pipeline, 1, microbatches);
        return Simulator.run(rows, Costs.units(pipeline));
    }

    private static long lengthOfPath(Simulation simulation) {
        return simulation.criticalPath().stream().mapToLong(place -> simulation.endNanos(place.rank(), place.position())
                - simulation.startNanos(place.rank(), place.position())).sum();
    }
}
