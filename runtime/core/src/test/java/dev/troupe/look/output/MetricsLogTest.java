package dev.troupe.look.output;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.troupe.rank.lines.JsonLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class MetricsLogTest {
    private static final String FIRST = "{\"step\":0,\"loss\":2.5,\"step_seconds\":0.5}\n";
    private static final String SECOND = "{\"step\":1,\"loss\":2.25,\"step_seconds\":4.0}\n";
    private static final String FAILED = "{\"steps_done\":2,\"checkpoint_failed\":\"no room\"}\n";

    @TempDir
    private Path home;

    @Test
    void shouldReadOnlyLinesOfSteps() throws IOException {
        Path file = write(FIRST + SECOND + FAILED);
        assertEquals(List.of(0.5, 4.0), MetricsLog.stepSeconds(file));
        assertEquals(2.25, MetricsLog.lossOf(file, 1).orElseThrow());
    }

    @Test
    void shouldDropRepeatedStepsAndPartialLines() throws IOException {
        Path file = write(FIRST + SECOND + FAILED + "{\"step\":2,\"lo");
        Object before = identity(file);
        try (MetricsLog log = open(file, 1)) {
            assertEquals(1, log.nextStep());
        }
        assertEquals(FIRST, Files.readString(file));
        assertNotEquals(before, identity(file), "it was written over: for a moment the first line was not there");
    }

    @Test
    void shouldNotChangeAnIntactFile() throws IOException {
        Path file = write(FIRST + SECOND + FAILED);
        Object before = identity(file);
        try (MetricsLog log = MetricsLog.takeOver(file, System.err::println)) {
            assertEquals(2, log.nextStep());
            log.writeCheckpointFailed(3, "no room");
        }
        assertEquals(before, identity(file));
        assertEquals(FIRST + SECOND + FAILED + FAILED.replace(":2", ":3"), Files.readString(file));
    }

    @Test
    void shouldCompleteALineWithoutItsLineEnd() throws IOException {
        Path file = write(FIRST.strip());
        try (MetricsLog log = MetricsLog.takeOver(file, System.err::println)) {
            log.writeCheckpointFailed(2, "no room");
        }
        assertEquals(FIRST + FAILED, Files.readString(file));
    }

    /** Each is one line of five, made by a disk, a crash or a flipped bit. */
    static Stream<Arguments> damagedLines() {
        byte[] flipped = line(2).getBytes(UTF_8);
        flipped[12] ^= (byte) 0x80;
        return Stream.of(Arguments.of("a flipped bit that is no UTF-8", flipped),
                Arguments.of("zeros", new byte[900]),
                Arguments.of("half a line", "{\"step\":2,\"lo".getBytes(UTF_8)),
                Arguments.of("two lines in one", (line(2) + " " + line(2)).getBytes(UTF_8)),
                Arguments.of("no object", "2".getBytes(UTF_8)),
                Arguments.of("another object", "{\"a\":1}".getBytes(UTF_8)),
                Arguments.of("a step that is too high", line(66).getBytes(UTF_8)),
                Arguments.of("a step that is too low", line(0).getBytes(UTF_8)),
                Arguments.of("a negative step", line(-2).getBytes(UTF_8)),
                Arguments.of("a validation of what is to come",
                        "{\"steps_done\":66,\"validation_loss\":2.0}".getBytes(UTF_8)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("damagedLines")
    void shouldSetADamagedLineAsideWithASentence(String name, byte[] damaged) throws IOException {
        Path file = home.resolve(MetricsLog.FILE);
        for (int at = name.equals("a step that is too low") ? 1 : 0; at < 5; at++) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            StringBuilder whole = new StringBuilder();
            for (int step = 0; step < 5; step++) {
                if (step == at) {
                    bytes.writeBytes(damaged);
                    bytes.write('\n');
                }
                if (step != 2) {
                    bytes.writeBytes((line(step) + "\n").getBytes(UTF_8));
                    whole.append(line(step)).append('\n');
                }
            }
            Files.write(file, bytes.toByteArray());
            List<String> troubles = new ArrayList<>();
            try (MetricsLog log = MetricsLog.takeOver(file, troubles::add)) {
                assertEquals(5, log.nextStep());
            }
            assertEquals(whole.toString(), Files.readString(file));
            assertEquals(List.of(file + " is damaged: line " + (at > 2 ? at : at + 1)
                    + " cannot be read and is in metrics.jsonl.damaged now; the run continues without it"), troubles);
            Path aside = home.resolve("metrics.jsonl.damaged");
            assertArrayEquals(damaged, Arrays.copyOf(Files.readAllBytes(aside), damaged.length));
            Files.delete(aside);
            assertEquals(4.5, MetricsLog.lossOf(file, 4).orElseThrow());
        }
    }

    @Test
    void shouldNotAcceptALastStepBeyondTheNextOne() throws IOException {
        Path file = write(line(0) + "\n" + line(1) + "\n" + line(66) + "\n");
        try (MetricsLog log = MetricsLog.takeOver(file, _ -> {
        })) {
            assertEquals(2, log.nextStep());
        }
    }

    @Test
    void shouldSetDamagedLinesOfOtherFilesAside() throws IOException {
        Path file = Files.writeString(home.resolve("events.jsonl"), "{\"a\":1}\n{\"b\"\n{\"c\":1}");
        List<String> troubles = new ArrayList<>();
        JsonLog.mend(file, troubles::add);
        assertEquals("{\"a\":1}\n{\"c\":1}\n", Files.readString(file));
        assertEquals(1, troubles.size());
        Files.writeString(file, "{\"d\"");
        JsonLog.append(file, "{\"e\":1}");
        assertEquals("{\"d\"\n{\"e\":1}\n", Files.readString(file));
    }

    private static String line(int step) {
        return "{\"step\":" + step + ",\"loss\":" + step + ".5,\"step_seconds\":1.5}";
    }

    private static MetricsLog open(Path file, long stepsDone) {
        return MetricsLog.open(file, stepsDone, System.err::println);
    }

    private Path write(String text) throws IOException {
        return Files.writeString(home.resolve(MetricsLog.FILE), text);
    }

    private static Object identity(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }
}
