package dev.troupe.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.observe.RunListener;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LateListenerTest {
    @Test
    void shouldOpenNothingBeforeTheRunBegins() {
        List<String> heard = new ArrayList<>();
        LateListener listener = new LateListener(() -> {
            heard.add("opened");
            return new RunListener() {
                @Override
                public void onBegin(double warmUpSeconds) {
                    heard.add("begins after " + warmUpSeconds);
                }
            };
        }, missing -> heard.add("waiting for " + missing));
        listener.onWaiting(List.of("b"));
        assertEquals(List.of("waiting for [b]"), heard);
        listener.onBegin(2);
        assertEquals(List.of("waiting for [b]", "opened", "begins after 2.0"), heard);
    }
}
