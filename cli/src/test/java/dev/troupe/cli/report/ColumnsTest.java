package dev.troupe.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
final class ColumnsTest {
    private static final List<String> HEADINGS = List.of("schedule", "step", "bubble", "losses");
    private static final List<List<String>> ROWS = List.of(List.of("gpipe", "12.5 ms", "37.5 %", "the same"),
            List.of("1f1b", "9.5 ms", "5 %", "the same"));

    @Test
    void shouldFoldColumnsThatDoNotFitTheTerminal() {
        String wide = """
                schedule  step     bubble  losses
                gpipe     12.5 ms  37.5 %  the same
                1f1b      9.5 ms   5 %     the same""";
        assertEquals(wide, Columns.of(HEADINGS, ROWS));
        assertEquals(wide, Columns.fitted(HEADINGS, ROWS, OptionalInt.of(35)));
        assertEquals("""
                schedule step    bubble losses
                gpipe    12.5 ms 37.5 % the same
                1f1b     9.5 ms  5 %    the same""", Columns.fitted(HEADINGS, ROWS, OptionalInt.of(32)));
        assertEquals("""
                schedule  step     bubble
                gpipe     12.5 ms  37.5 %
                1f1b      9.5 ms   5 %

                schedule  losses
                gpipe     the same
                1f1b      the same""", Columns.fitted(HEADINGS, ROWS, OptionalInt.of(30)));
    }

    @Test
    void shouldWrapWords() {
        assertEquals("  one two\n  three\n  abcdefghijkl", Columns.wrapped("one two three abcdefghijkl", 10, "  "));
    }

    @Test
    void shouldKnowWhatTheOutputIs() {
        assertEquals(Terminal.NONE, Terminal.of(false, Map.of("TERM", "xterm")));
        assertEquals(OptionalInt.of(100), Terminal.of(false, Map.of("COLUMNS", "100")).columns());
        assertTrue(Terminal.of(true, Map.of("TERM", "xterm", "COLUMNS", "90")).colours());
        assertFalse(Terminal.of(true, Map.of("TERM", "xterm", "COLUMNS", "90", "NO_COLOR", "1")).colours());
        assertFalse(Terminal.of(true, Map.of("TERM", "dumb", "COLUMNS", "90")).colours());
        assertTrue(Terminal.of(true, Map.of()).tableColumns().orElseThrow() >= 40);
        Terminal narrow = Terminal.of(true, Map.of("COLUMNS", "25"));
        assertEquals(25, narrow.lineColumns());
        assertEquals(OptionalInt.of(40), narrow.tableColumns(), "a table of less is harder to read than a wide one");
    }
}
