package dev.troupe.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.run.news.RunNews;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LateListenerTest {
    @Test
    void shouldOpenNothingBeforeTheRunBegins() {
        List<String> received = new ArrayList<>();
        LateListener listener = new LateListener(() -> {
            received.add("opened");
            return news -> received.add(news.toString());
        }, missing -> received.add("waiting for " + missing));
        listener.on(new RunNews.Waiting(List.of("b")));
        listener.on(new RunNews.Validated(0, 5));
        assertEquals(List.of("waiting for [b]"), received);
        listener.on(new RunNews.Begun(2));
        listener.on(new RunNews.Validated(1, 4));
        assertEquals(List.of("waiting for [b]", "opened", "Begun[warmUpSeconds=2.0]",
                "Validated[stepsDone=1, loss=4.0]"), received);
    }
}
