package dev.troupe.config.file;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
final class BracesTest {
    @Test
    void shouldFindTheBraceThatIsNotClosed() {
        assertEquals(OptionalInt.of(1), Braces.unclosed("troupe {\n  name = a\n"));
        assertEquals(OptionalInt.of(2), Braces.unclosed("troupe {\n  training {\n    steps = 3\n}\n"));
        assertEquals(OptionalInt.of(4), Braces.unclosed("troupe {\n  model {\n  }\n  training {\n    steps = 3\n}\n"));
        assertEquals(OptionalInt.of(1), Braces.unclosed("troupe { training { steps = 3 }"));
    }

    @Test
    void shouldIgnoreBracesInCommentsAndStrings() {
        assertEquals(OptionalInt.empty(), Braces.unclosed("""
                troupe { # {
                  name = "{" // {
                  layout = \"""
                  {
                  \"""
                }
                """));
        assertEquals(OptionalInt.of(4), Braces.unclosed("a = \"\"\"\n\n\"\"\"\nb {\n"));
    }
}
