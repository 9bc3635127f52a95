package dev.troupe.observe;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ForwardingListenerTest {
    /** A method that the listener did not pass on would be lost silently. */
    @Test
    void shouldPassOnAllThatAListenerMayHear() {
        for (Method method : RunListener.class.getDeclaredMethods()) {
            assertTrue(Arrays.stream(ForwardingListener.class.getDeclaredMethods())
                    .anyMatch(own -> own.getName().equals(method.getName())), method + " is not passed on");
        }
    }
}
