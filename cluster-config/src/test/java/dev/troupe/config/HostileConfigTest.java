package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
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

    @Test
    void shouldNameTheFirstOfManyProblems() throws IOException {
        String nodes = IntStream.range(0, 3_000)
                .mapToObj(node -> "{ name = n" + node + ", host = there, control-port = 11, data-port = 12 }")
                .reduce("", (all, node) -> all + node + "\n");
        List<String> lines = refusal(write("run.conf", "troupe.cluster.nodes = [\n" + nodes + "]\n")).lines().toList();
        assertEquals(31, lines.size());
        assertTrue(lines.getFirst().contains("nodes[1].control-port"), lines.getFirst());
        assertTrue(lines.getLast().matches("\\.\\.\\. and \\d{4,} more problems\\."), lines.getLast());
    }

    @Test
    void shouldCutLongKeysAndLists() throws IOException {
        String name = "k".repeat(500_000);
        assertTrue(refusal(write("run.conf", "troupe." + name + " = 1")).length() < 5_000);
        String ranks = refusal(
                write("run.conf", "troupe { parallel { pipeline = 4096, tensor = 16 }, cluster.nodes = [{ name"
                        + " = a, host = there, control-port = 11, data-port = 12, ranks = [0] }] }"));
        assertTrue(ranks.contains("none for ranks 1, 2, 3, 4,"), ranks);
        assertTrue(ranks.length() < 5_000, ranks);
    }

    /** Values that are no number of a key, or far outside its range, or a wrong number after a conversion. */
    static Stream<String> wrongNumbers() {
        return Stream.of("1e400", "-1e400", "1e19", "-1e19", "1e2147483647", "1e99999999999", "NaN",
                "Infinity", "-Infinity", "0x10", "1_000", "1d", "1f", "--1", "+", "1e", "2147483648", "4294967297",
                "18446744073709551617", "9".repeat(3_000), "-0.5", "1.5", "-1");
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("wrongNumbers")
    void shouldRefuseWrongNumbersOfEveryKey(String number) throws IOException {
        Set<String> wrong = new TreeSet<>();
        for (Key key : new Keys().all()) {
            boolean isWhole = key.accepts().matches("a whole number from \\d+ to \\d+");
            boolean isSeed = key.accepts().equals("a whole number of at most 64 bits");
            boolean isDecimal = key.accepts().startsWith("a finite number");
            if (!key.path().contains("[]") && (isWhole
                    || isSeed && !number.matches("-1|2147483648|4294967297")
                    || isDecimal && !number.matches("1e19|1\\.5|\\d{10,20}"))) {
                wrong.add(key.path());
            }
        }
        assertTrue(wrong.size() > 30, wrong::toString);
        Path file = write("run.conf",
                wrong.stream().map(key -> "troupe." + key + " = \"" + number + "\"\n").collect(Collectors.joining()));
        Path bare = write("bare.conf",
                wrong.stream().map(key -> "troupe." + key + " = " + number + "\n").collect(Collectors.joining()));
        assertEquals(wrong, refused(Optional.of(file), List.of()));
        if (!number.matches("[+-].*|.*[+]")) { // no start of a value
            assertEquals(wrong, refused(Optional.of(bare), List.of()));
        }
        assertEquals(wrong, refused(Optional.empty(), wrong.stream().map(key -> key + "=" + number).toList()));
    }

    /** Returns the keys that are refused, each with a sentence that fits a line or two. */
    private static Set<String> refused(Optional<Path> file, List<String> settings) {
        List<Problem> problems = assertTimeoutPreemptively(PATIENCE, () -> assertThrows(ConfigException.class,
                () -> RunSpecReader.read(file, settings)).problems());
        problems.forEach(problem -> assertTrue(problem.sentence().length() < 1_000, problem::sentence));
        return problems.stream().map(Problem::key).collect(Collectors.toCollection(TreeSet::new));
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private static String refusal(Path file) {
        return assertTimeoutPreemptively(PATIENCE, () -> assertThrows(ConfigException.class,
                () -> RunSpecReader.read(Optional.of(file), List.of())).getMessage());
    }
}
