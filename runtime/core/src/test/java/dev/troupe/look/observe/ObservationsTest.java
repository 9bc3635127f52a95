package dev.troupe.look.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.run.news.RunNews;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class ObservationsTest {
    private final List<String> trouble = new ArrayList<>();
    private final List<String> received = new ArrayList<>();

    private final class Receiving implements Observation {
        @Override
        public void on(RunNews news) {
            received.add(news.toString());
        }

        @Override
        public void close() {
            received.add("close");
        }
    }

    private final class Failing implements Observation {
        @Override
        public void on(RunNews news) {
            throw new IllegalStateException("no room for meters");
        }

        @Override
        public void close() {
            received.add("close of the one that failed");
        }
    }

    @Test
    void shouldContinueWithoutAnObserverThatFails() {
        Observations observations = new Observations(List.of(_ -> {
            throw new IllegalArgumentException("no such registry");
        }, _ -> new Failing(), _ -> new Receiving()), new RunFacts("run", "1f1b", 0, 2, 64, List.of()), trouble::add);
        observations.on(new RunNews.Validated(1, 0.5));
        observations.on(new RunNews.Validated(2, 0.25));
        observations.close();
        assertEquals(List.of("Validated[stepsDone=1, loss=0.5]", "Validated[stepsDone=2, loss=0.25]", "close"),
                received);
        String sentence = "an observer of the run has failed, and the run continues without it: java.lang.";
        assertEquals(List.of(sentence + "IllegalArgumentException: no such registry",
                sentence + "IllegalStateException: no room for meters"), trouble);
    }
}
