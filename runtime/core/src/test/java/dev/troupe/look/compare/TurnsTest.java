package dev.troupe.look.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("plan")
@Timeout(300)
final class TurnsTest {
    private final List<String> done = Collections.synchronizedList(new ArrayList<>());

    @Test
    void shouldDoOneStepOfEachRunAfterAnother() throws Exception {
        Turns turns = new Turns(3, 2);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Callable<Void>> lives = new ArrayList<>();
            for (int run : List.of(2, 1, 0)) {
                lives.add(() -> live(turns, run, 2));
            }
            for (Future<Void> life : threads.invokeAll(lives, 20, TimeUnit.SECONDS)) {
                life.get();
            }
        }
        assertEquals(List.of("load 0", "load 1", "load 2", "step 0", "step 1", "step 2", "step 0", "step 1", "step 2"),
                done.subList(0, 9));
        assertEquals(List.of("end 0", "end 1", "end 2"), done.subList(9, 12).stream().sorted().toList(),
                "no run ends, and takes time of the others, before all have done their steps");
    }

    @Test
    void shouldEndAllWithTheFirstFailure() throws Exception {
        Turns turns = new Turns(2, 5);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<Void> waits = threads.submit(() -> live(turns, 0, 5));
            threads.submit(() -> {
                turns.awaitLoad(1);
                turns.fail(new ComparisonException("zbv failed: no wire"));
                turns.fail(new ComparisonException("a consequence"));
            }).get();
            ExecutionException ended = assertThrows(ExecutionException.class, () -> waits.get(20, TimeUnit.SECONDS));
            assertTrue(ended.getCause().getMessage().contains("zbv failed: no wire"), ended.getMessage());
        }
        assertEquals("zbv failed: no wire", turns.failure().orElseThrow().getMessage());
    }

    private Void live(Turns turns, int run, int steps) {
        turns.awaitLoad(run);
        done.add("load " + run);
        turns.loaded(run);
        for (int step = 0; step < steps; step++) {
            done.add("step " + run);
            turns.pass(run);
        }
        done.add("end " + run);
        return null;
    }
}
