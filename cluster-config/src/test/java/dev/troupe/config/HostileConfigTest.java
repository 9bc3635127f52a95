package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.problem.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Configurations that are small and mean more than any memory has end with a sentence, at once. */
@Tag("plan")
class HostileConfigTest {
    private static final String TOO_LARGE = "expected a configuration of at most 2 MiB once its substitutions are"
            + " replaced, found a larger one with values that repeat each other";
    /** Each takes a second at most on a machine that does nothing else. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    static Stream<String> bombs() {
        return Stream.of(levels("a0 = [1,1,1,1,1,1,1,1,1,1]\n", "a%d = [%s]\n", ",", 10),
                levels("a0 = xxxxxxxxxx\n", "a%d = %s\n", "", 10), levels("a0 = [x]\n", "a%d = %s\n", " ", 10),
                levels("a0 { x = 1 }\n", "a%d { b = %1$d, c = [%s] }\n", ",", 9),
                levels("t.a0 = [x]\n", "t.a%d = [%s]\n", ",", 10).replace("${a", "${t.a"),
                "a = [1]\n" + "a = ${a} ${a}\n".repeat(40), "a = [1]\n" + "a = ${?a} ${?a}\n".repeat(40),
                "a = [1]\n" + "a = ${?a} [1] ${?a} [1]\n".repeat(40), "a = x\n" + "a = ${a}${a}\n".repeat(40),
                "a = [1]\n" + "a += 1\n".repeat(2_000), "a = x\n" + "a = ${?a}1\n".repeat(1_000),
                "a = [" + "x,".repeat(200_000) + "]\n" + levels("a0 = ${a}\n", "a%d = [%s]\n", ",", 3));
    }

    private static String levels(String first, String level, String between, int count) {
        StringBuilder text = new StringBuilder(first);
        for (int i = 1; i <= count; i++) {
            text.append(level.formatted(i, String.join(between,
                    IntStream.range(0, 10).boxed().map(any -> "PLACE").toList())
                    .replace("PLACE", "${a" + (i - 1) + "}")));
        }
        return text.append("troupe.name = ${a").append(count).append("}\n").toString();
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("bombs")
    void shouldRefuseValuesThatRepeatEachOther(String text) throws IOException {
        Path file = write("run.conf", text);
        String refusal = refusal(file);
        assertTrue(refusal.startsWith(file + ": " + TOO_LARGE), refusal);
    }

    @Test
    void shouldReadValuesThatRepeatEachOtherSlightly() throws IOException {
        String text = """
                steps = [3]
                common { control-port = 1, data-port = 2 }
                common { host = localhost }
                """ + "troupe.cluster.nodes = [" + IntStream.range(0, 100)
                .mapToObj(node -> "${common} { name = n" + node + " }\n").reduce("", String::concat) + "]\n";
        String refusal = refusal(write("run.conf", text));
        assertTrue(refusal.contains("nothing but troupe at the top of the file, found common"), refusal);
        assertFalse(refusal.contains("2 MiB"), refusal);
    }

    @Test
    void shouldRefuseFilesThatIncludeManyFiles() throws IOException {
        for (int level = 0; level < 12; level++) {
            write("f" + level + ".conf", ("include \"f" + (level + 1) + ".conf\"\n").repeat(4));
        }
        write("f12.conf", "a = 1");
        String refusal = refusal(folder.resolve("f0.conf"));
        assertTrue(refusal.contains("expected at most 64 included files in all"), refusal);
    }

    @Test
    void shouldRefuseManyPiecesOfASection() throws IOException {
        for (String piece : List.of("a{k%d=1}\n", "a { k%d = 1 }, ", "a.k%d = 1\n", "\"a\".k%d = 1\n",
                "a : { k%d : 1 }\n",
                "a = ${?a} { k%d = 1 }\n", "a { k%d = 1 } # a\n")) {
            StringBuilder text = new StringBuilder();
            IntStream.range(0, 16_000).forEach(i -> text.append(piece.formatted(i)));
            refusal(write("run.conf", text.toString()));
        }
    }

    @Test
    void shouldRefuseOtherThanRegularFiles() throws IOException, InterruptedException {
        Path pipe = folder.resolve("pipe.conf");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        String sentence = pipe + ": expected a configuration file, found a device or a pipe; save it as a file.";
        assertEquals(sentence, refusal(pipe));
        assertEquals(sentence, refusal(write("run.conf", "include \"pipe.conf\"")));
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private static String refusal(Path file) {
        return assertTimeoutPreemptively(PATIENCE, () -> assertThrows(ConfigException.class,
                () -> RunSpecReader.read(Optional.of(file), List.of())).getMessage());
    }
}
