package dev.troupe.plan.error;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.plan.UsageException;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class StartErrorsTest {
    @Test
    void shouldExplainUncheckedExceptionsOfScala() {
        RuntimeException failure = UserErrors.ofStart("node b",
                new TimeoutException("Future timed out after [3000 milliseconds]"));
        String sentence = UserErrors.sentenceOf(failure).orElseThrow();
        assertTrue(sentence.startsWith("the actors of node b did not start: TimeoutException: Future timed out after"
                + " [3000 milliseconds]; the machine has a load of "), sentence);
    }

    @Test
    void shouldLeaveASentenceForTheUserAsItIs() {
        UsageException refused = new UsageException("the port is taken");
        assertSame(refused, UserErrors.ofStart("node b", refused));
    }

    @Test
    void shouldNotHideADefectOfTheMachine() {
        OutOfMemoryError none = new OutOfMemoryError("no room");
        assertSame(none, assertThrows(OutOfMemoryError.class, () -> UserErrors.ofStart("node b", none)));
        assertEquals(Optional.empty(), UserErrors.sentenceOf(new IllegalStateException("a defect")));
    }
}
