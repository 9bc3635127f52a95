package dev.troupe.cli.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.cli.report.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
final class ProgressLineTest {
    @Test
    void shouldNotEstimateFromTheFirstStep() {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        AtomicLong seconds = new AtomicLong();
        ProgressLine line = new ProgressLine(new PrintStream(said, true, StandardCharsets.UTF_8), Terminal.NONE, 101,
                () -> seconds.get() * 1_000_000_000L);
        line.start();
        seconds.set(60); // what the first step takes to warm up
        line.show(1, 5.5, 100, "");
        seconds.set(66);
        line.show(3, 5.25, 100, "");
        assertEquals("""
                step 1/101   loss 5.5000   100 tokens/s
                step 3/101   loss 5.2500   100 tokens/s   4 min 54 s left
                """, said.toString(StandardCharsets.UTF_8));
    }

    /** A line that wraps is not overwritten, so each step would leave one. */
    @ParameterizedTest
    @ValueSource(ints = {20, 40, 60})
    void shouldNotBeWiderThanTheTerminal(int columns) {
        ByteArrayOutputStream terminal = new ByteArrayOutputStream();
        ProgressLine line = new ProgressLine(new PrintStream(terminal, true, StandardCharsets.UTF_8),
                new Terminal(true, OptionalInt.of(columns), false), 100, System::nanoTime);
        line.start();
        line.show(50, 2.5, 1_234_567, "   validation 2.4000 at step 40");
        line.show(100, 2.25, 1_234_567, "   validation 2.3000 at step 80");
        String[] lines = terminal.toString(StandardCharsets.UTF_8).split("\r");
        assertEquals(3, lines.length);
        assertEquals("step 50/100   loss 2.5000   1,234,567 tokens/s   validation".substring(0, columns - 1), lines[1]);
        assertEquals(columns - 1, lines[2].length());
    }

    @Test
    void shouldBeginOtherOutputOnANewLine() {
        ByteArrayOutputStream terminal = new ByteArrayOutputStream();
        PrintStream output = new PrintStream(terminal, true, StandardCharsets.UTF_8);
        ProgressLine line = new ProgressLine(output, new Terminal(true, OptionalInt.of(80), false), 10, () -> 0);
        PrintStream log = line.shareTerminal(output);
        log.println("before");
        line.start();
        line.show(10, 2.5, 100, "");
        log.println("12:00:00 WARN after");
        log.println("again");
        assertEquals("before\n\rstep 10/10   loss 2.5000   100 tokens/s\n12:00:00 WARN after\nagain\n",
                terminal.toString(StandardCharsets.UTF_8));
    }
}
