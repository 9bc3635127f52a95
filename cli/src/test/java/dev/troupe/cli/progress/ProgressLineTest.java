package dev.troupe.cli.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
final class ProgressLineTest {
    @Test
    void shouldNotTakeTheFirstStepForTheRest() {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        AtomicLong seconds = new AtomicLong();
        ProgressLine line = new ProgressLine(new PrintStream(said, true, StandardCharsets.UTF_8), false, 101,
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

    @Test
    void shouldBeginWhatOthersWriteOnALineOfItsOwn() {
        ByteArrayOutputStream terminal = new ByteArrayOutputStream();
        PrintStream output = new PrintStream(terminal, true, StandardCharsets.UTF_8);
        ProgressLine line = new ProgressLine(output, true, 10, () -> 0);
        PrintStream log = line.beside(output);
        log.println("before");
        line.start();
        line.show(10, 2.5, 100, "");
        log.println("12:00:00 WARN after");
        log.println("again");
        assertEquals("before\n\rstep 10/10   loss 2.5000   100 tokens/s\n12:00:00 WARN after\nagain\n",
                terminal.toString(StandardCharsets.UTF_8));
    }
}
