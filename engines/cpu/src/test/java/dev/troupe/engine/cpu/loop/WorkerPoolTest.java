package dev.troupe.engine.cpu.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of work that threads share. */
@Tag("plan")
class WorkerPoolTest {
    @Test
    void shouldComputeEveryUnitOnce() {
        for (int threads : new int[]{1, 2, 3, 8}) {
            try (WorkerPool pool = new WorkerPool(threads)) {
                for (int units = 1; units < 40; units++) {
                    for (int grain = 1; grain < 8; grain++) {
                        AtomicIntegerArray times = new AtomicIntegerArray(units);
                        pool.share(units, grain, (from, count, member) -> {
                            for (int i = 0; i < count; i++) {
                                times.incrementAndGet((int) from + i);
                            }
                        });
                        for (int i = 0; i < units; i++) {
                            assertEquals(1, times.get(i), "unit " + i + " of " + units + " by " + grain);
                        }
                    }
                }
            }
        }
    }

    @Test
    void shouldRunAMemberOnOneThreadAtATime() {
        try (WorkerPool pool = new WorkerPool(3)) {
            Set<String> pairs = ConcurrentHashMap.newKeySet();
            for (int round = 0; round < 2000; round++) {
                pool.share(1 + round % 5, 1, (from, count, member) -> pairs.add(member + " "
                        + Thread.currentThread().getName()));
            }
            assertTrue(pairs.size() <= 3, pairs.toString());
        }
    }

    @Test
    void shouldReportAFailureOfAHelperAndContinue() {
        try (WorkerPool pool = new WorkerPool(2)) {
            IllegalStateException failure = assertThrows(IllegalStateException.class,
                    () -> pool.share(2, 1, (from, count, member) -> {
                        if (member == 1) {
                            throw new IllegalArgumentException("no");
                        }
                    }));
            assertEquals("no", failure.getCause().getMessage());
            AtomicIntegerArray done = new AtomicIntegerArray(2);
            pool.share(2, 1, (from, count, member) -> done.set((int) from, 1));
            assertEquals("[1, 1]", done.toString());
        }
    }
}
