package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpecReader;
import dev.troupe.config.problem.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("runtime")
@Timeout(60)
class RequestTest {
    private static final List<String> FLAGS = List.of("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
            "--add-modules=jdk.incubator.vector");

    @TempDir
    private Path home;

    @Test
    void shouldRefuseSettingsWithTheSentenceOfTheCommand() {
        String said = assertThrows(ConfigException.class, () -> RunSpecReader.read(Optional.empty(),
                List.of("model.heads=3", "training.stepps=4"))).getMessage();
        assertEquals(said, assertThrows(RequestException.class,
                () -> TrainingSpec.builder().set("model.heads", 3).set("training.stepps", 4).build()).getMessage());
    }

    @Test
    void shouldRefuseAFileWithItsLine() throws IOException {
        Path file = Files.writeString(home.resolve("run.conf"), "troupe {\n  training.steps = many\n}\n");
        String said = assertThrows(ConfigException.class, () -> RunSpecReader.read(Optional.of(file), List.of()))
                .getMessage();
        assertTrue(said.contains("run.conf:2"), said);
        assertEquals(said,
                assertThrows(RequestException.class, () -> TrainingSpec.fromFile(file)).getMessage());
    }

    @Test
    void shouldWriteNothingForARequestThatIsRefused() {
        Path run = home.resolve("run");
        assertEquals("the text in memory",
                assertThrows(RequestException.class, () -> Troupe.train(SmallRun.spec(run).build(),
                        TrainingData.ofText("short"), TrainingListener.NONE)).getMessage().substring(0, 18));
        assertTrue(assertThrows(RequestException.class, () -> Troupe.train(SmallRun.spec(run).build(),
                TrainingData.ofFiles(home.resolve("none.txt")), TrainingListener.NONE)).getMessage()
                .contains("none.txt"));
        assertFalse(Files.exists(run));
    }

    @Test
    void shouldRefuseASettingWithoutAValue() {
        assertTrue(assertThrows(RequestException.class, () -> TrainingSpec.builder().set("training.steps", null))
                .getMessage().startsWith("training.steps must have a value, but is set to null"));
    }

    /** As on a full disk. */
    @Test
    void shouldRefuseADirectoryInWhichAFileCannotBeWritten() throws IOException {
        Path run = Files.createDirectory(home.resolve("run"));
        Files.createFile(run.resolve("metrics.jsonl"));
        Files.createDirectory(run.resolve("config.conf"));
        String said = assertThrows(RequestException.class, () -> Troupe.start(SmallRun.spec(run).build(),
                TrainingData.ofText(SmallRun.TEXT), TrainingListener.NONE)).getMessage();
        assertTrue(said.startsWith("cannot write to the output directory " + run), said);
        assertFalse(Files.exists(run.resolve("run.lock")));
    }

    @Test
    void shouldRefuseAClusterFileWithoutNodes() throws IOException {
        Path file = Files.writeString(home.resolve("cluster.conf"), "troupe.name = one\n");
        assertTrue(assertThrows(RequestException.class, () -> Troupe.join(file, "a", TrainingListener.NONE))
                .getMessage().startsWith(file + " names no nodes"));
    }

    @Test
    void shouldTakePathsAndListsAsTheyAre() throws IOException {
        Path odd = Files.writeString(home.resolve("[a] \"b\".txt"), SmallRun.TEXT);
        String hocon = TrainingSpec.builder().set("data.path", odd)
                .set("data.validation-path", List.of(odd, home.resolve("c"))).build().toHocon();
        assertTrue(hocon.contains("[a] \\\"b\\\".txt"), hocon);
        assertEquals(TrainingSpec.builder().set("training.steps", "7").build().toHocon(),
                TrainingSpec.builder().steps(9).build().toBuilder().steps(7).build().toHocon());
    }

    /** Each flag is missed by itself, and a JVM with none of them hears of all. */
    @Test
    void shouldNameTheFlagsThatTheJvmLacks() throws IOException, InterruptedException {
        assertEquals("this JVM was started without " + String.join(" ", FLAGS)
                + ", which Troupe needs for native memory and vectors: add them to the flags of the JVM"
                + " (docs/embedding.md)", said(List.of()));
        List<String> allButOne = new ArrayList<>(FLAGS);
        String missing = allButOne.remove(1);
        assertTrue(said(allButOne).startsWith("this JVM was started without " + missing + ", "));
    }

    private static String said(List<String> flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin/java").toString()));
        command.addAll(flags);
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
                FlagProbe.class.getName()));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output.strip();
    }
}
