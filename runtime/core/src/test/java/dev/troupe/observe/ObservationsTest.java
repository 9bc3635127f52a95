package dev.troupe.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class ObservationsTest {
    private static final StepResult STEP = new StepResult(0, 2, 1, 0.1, 1, false, Traffic.NONE);

    private final List<String> said = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();

    private final class Hearing implements Observation {
        @Override
        public void onStep(StepResult result, double seconds) {
            heard.add("step");
        }

        @Override
        public void close() {
            heard.add("close");
        }
    }

    private final class Failing implements Observation {
        @Override
        public void onStep(StepResult result, double seconds) {
            throw new IllegalStateException("no room for meters");
        }

        @Override
        public void close() {
            heard.add("close of the one that failed");
        }
    }

    @Test
    void shouldContinueWithoutAnObserverThatFails() {
        Observations observations = new Observations(List.of(_ -> {
            throw new IllegalArgumentException("no such registry");
        }, _ -> new Failing(), _ -> new Hearing()), new RunFacts("run", "1f1b", 0, 2, 64, List.of()), said::add);
        observations.onStep(STEP, 0.5);
        observations.onStep(STEP, 0.5);
        observations.close();
        assertEquals(List.of("step", "step", "close"), heard);
        String sentence = "an observer of the run has failed, and the run continues without it: java.lang.";
        assertEquals(List.of(sentence + "IllegalArgumentException: no such registry",
                sentence + "IllegalStateException: no room for meters"), said);
    }
}
