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
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
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
                assertThrows(RequestException.class, () -> Troupe.train(SmallTraining.spec(run).build(),
                        TrainingData.ofText("short"), TrainingListener.NONE)).getMessage().substring(0, 18));
        assertTrue(assertThrows(RequestException.class, () -> Troupe.train(SmallTraining.spec(run).build(),
                TrainingData.ofFiles(home.resolve("none.txt")), TrainingListener.NONE)).getMessage()
                .contains("none.txt"));
        assertFalse(Files.exists(run));
    }

    @Test
    void shouldRefuseATextWithHalfACharacter() {
        assertTrue(assertThrows(RequestException.class, () -> TrainingData.ofText("a \ud83d b")).getMessage()
                .startsWith("the text in memory has half a character"));
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
        String said = assertThrows(RequestException.class, () -> Troupe.start(SmallTraining.spec(run).build(),
                TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE)).getMessage();
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
        Path odd = Files.writeString(home.resolve("[a] \"b\".txt"), SmallTraining.TEXT);
        String hocon = TrainingSpec.builder().set("data.path", odd)
                .set("data.validation-path", List.of(odd, home.resolve("c"))).build().toHocon();
        assertTrue(hocon.contains("[a] \\\"b\\\".txt"), hocon);
        assertEquals(TrainingSpec.builder().set("training.steps", "7").build().toHocon(),
                TrainingSpec.builder().steps(9).build().toBuilder().steps(7).build().toHocon());
    }

    @Test
    void shouldTakeWhatAProgramHasAtHand() {
        String listed = TrainingSpec.builder().set("training.lora.rank", 2)
                .set("training.lora.targets", List.of("q_proj", "v_proj")).build().toHocon();
        for (Object given : List.of(new String[]{"q_proj", "v_proj"},
                new LinkedHashSet<>(List.of("q_proj", "v_proj")), new ArrayDeque<>(List.of("q_proj", "v_proj")))) {
            assertEquals(listed, TrainingSpec.builder().set("training.lora.rank", 2)
                    .set("training.lora.targets", given).build().toHocon());
        }
        assertEquals(TrainingSpec.builder().set("recovery.hang-timeout", "90 s").build().toHocon(),
                TrainingSpec.builder().set("recovery.hang-timeout", Duration.ofSeconds(90)).build().toHocon());
        assertEquals(
                "training.steps is set to a java.util.concurrent.atomic.AtomicReference, which is no kind of value: give"
                        + " a number, a boolean, text, a Path, a Duration, or a list, set or array of such",
                assertThrows(RequestException.class,
                        () -> TrainingSpec.builder().set("training.steps", new AtomicReference<>(3))).getMessage());
        assertEquals("data.path has an element that is null: leave it out",
                assertThrows(RequestException.class,
                        () -> TrainingSpec.builder().set("data.path", new String[]{null})).getMessage());
    }

    @Test
    void shouldCheckTheScheduleAsItIsBuilt() {
        assertTrue(assertThrows(RequestException.class, () -> TrainingSpec.builder().schedule("1f1").build())
                .getMessage().contains("did you mean \"1f1b\"?"));
        assertEquals("run", TrainingSpec.builder().name("run").schedule("pipedream-2bw").build().name());
    }

    /** A Java program has no command line. */
    @Test
    void shouldSpeakOfMethodsAndNotOfOptions() throws IOException {
        Path used = Files.createDirectory(home.resolve("used"));
        Files.createFile(used.resolve("notes.txt"));
        String said = assertThrows(RequestException.class, () -> Troupe.train(SmallTraining.spec(used).build(),
                TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE)).getMessage();
        assertTrue(said.endsWith("choose another with output(directory)"), said);
        assertEquals("resume it with resume(/runs/a), or choose another with output(directory)",
                Refusals.ofLibrary("resume it with --resume /runs/a, or choose another with --out"));
        assertEquals("there is no directory nothing: name the directory of a run, or one of its checkpoints",
                assertThrows(RequestException.class, () -> Checkpoint.open(Path.of("nothing"))).getMessage());
        assertEquals("begin it again with output(/runs/a.b).",
                Refusals.ofLibrary("begin it again with --out /runs/a.b."));
        said = assertThrows(RequestException.class,
                () -> Troupe.train(SmallTraining.spec(home.resolve("run")).engine("gpu")
                        .build(), TrainingData.ofText(SmallTraining.TEXT), TrainingListener.NONE))
                .getMessage();
        assertTrue(said.contains("the dependency dev.troupe:troupe-engine-cuda") && !said.contains("TROUPE_"), said);
    }

    @Test
    void shouldAcceptTheFlagWithWhichTheJvmWarns() throws IOException, InterruptedException {
        List<String> warned = new ArrayList<>(FLAGS);
        String missing = warned.removeFirst();
        warned.replaceAll(flag -> flag.replace("=allow", "=warn"));
        assertTrue(said(warned).startsWith("this JVM was started without " + missing + ", "));
    }

    /** Each missing flag is named, and a JVM with none of them gets all. */
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
