package dev.troupe.cli.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class LastWordsTest {
    private final List<String> complaints = new ArrayList<>();
    private final LastWords words = new LastWords(complaints::add);

    @Test
    void shouldHaveASentenceForAStackTrace() {
        List.of("19:10:35.018 WARN  Cluster: a member, Received TimeoutException of java.lang.Thread",
                "java.util.concurrent.TimeoutException: Future timed out after [3000 milliseconds]",
                "\tat scala.concurrent.impl.Promise$DefaultPromise.tryAwait0(Promise.scala:252)",
                "Caused by: java.io.IOException: no").forEach(words);
        assertEquals("with exit code 1 (java.util.concurrent.TimeoutException: Future timed out after"
                + " [3000 milliseconds])", words.with("with exit code 1"));
        assertEquals(List.of(), complaints);
    }

    @Test
    void shouldKnowTheEndOfAThread() {
        words.accept("Exception in thread \"main\" java.lang.NoClassDefFoundError: picocli/CommandLine");
        assertEquals("with exit code 1 (java.lang.NoClassDefFoundError: picocli/CommandLine)",
                words.with("with exit code 1"));
    }

    @Test
    void shouldPreferTheSentenceOfTheProcess() {
        words.accept("java.io.IOException: no");
        words.accept("troupe: the run failed: no room");
        assertEquals("with exit code 1", words.with("with exit code 1"));
        assertEquals(Optional.of("the run failed: no room"), words.complaint());
        assertEquals(List.of("troupe: the run failed: no room"), complaints);
    }
}
