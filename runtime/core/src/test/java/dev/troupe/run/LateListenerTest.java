package dev.troupe.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.observe.RunListener;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class LateListenerTest {
    /** A method that the listener did not pass on would be lost silently. */
    @Test
    void shouldPassOnAllThatAListenerMayHear() {
        for (Method method : RunListener.class.getDeclaredMethods()) {
            assertTrue(Arrays.stream(LateListener.class.getDeclaredMethods())
                    .anyMatch(own -> own.getName().equals(method.getName())), method + " is not passed on");
        }
    }

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
