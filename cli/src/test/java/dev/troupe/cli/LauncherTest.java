package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.LaunchedTree.Ended;
import dev.troupe.cli.stop.ExitCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The build and the preparations of the script {@code ./troupe} before it starts the command, in a root of its own. */
@Tag("runtime")
@Timeout(120)
final class LauncherTest {
    private static final String BUILDING = "troupe: building (the first time takes a few minutes, most of it downloads)\n";
    private static final String PREPARING = "troupe: preparing for quicker starts (some seconds)\n";
    /** A {@code java} that lists its arguments, and makes the cache that it is asked for. */
    private static final String LISTS_AND_CACHES = """
            echo "$@" >> "%s"
            for flag in "$@"; do
              case $flag in -XX:AOTCacheOutput=*) echo classes > "${flag#*=}" ;; esac
            done
            """;
    private static final String NO_CACHE = """
            case "$*" in *-XX:AOTCacheOutput=*) echo tried >> tries; exit 1 ;; esac
            echo "$@"
            """;

    @TempDir
    private Path folder;
    private LaunchedTree tree;

    @BeforeEach
    void copy() throws IOException {
        tree = LaunchedTree.in(folder);
    }

    @Test
    void shouldBuildWhetherSourcesAreFormattedOrNot() throws Exception {
        tree.script("mvnw", """
                printf '%s\\n' "$@" > arguments
                echo '[INFO] -------< dev.troupe:troupe-schedules >-------'
                echo '[INFO] -------< dev.troupe:troupe-cli >-------'
                mkdir -p cli/target/classes && : > cli/target/dependencies.classpath
                """);

        Ended ended = tree.launch(tree.java("echo started\n"), "doctor");

        assertEquals(new Ended(0, BUILDING + " schedules cli\n", "started\n"), ended);
        List<String> arguments = Files.readAllLines(tree.root.resolve("arguments"));
        assertTrue(arguments.containsAll(List.of("-DskipTests", "-Dformatter.skip", "package")), arguments.toString());
        LaunchedTree.assertQuiet("started\n", tree.launch(tree.java("echo started\n"), "doctor"));
    }

    @Test
    void shouldReportWhyABuildFailed() throws Exception {
        tree.script("mvnw", """
                echo '[INFO] Scanning for projects...'
                echo '[ERROR] Main.java:[3,5] cannot find symbol'
                exit 1
                """);
        Ended ended = tree.launch(tree.java("echo started\n"), "doctor");
        assertEquals(new Ended(1, BUILDING + "\n[ERROR] Main.java:[3,5] cannot find symbol\n"
                + "troupe: the build failed; the lines above say why, and " + tree.root.resolve("target/build.log")
                + " has all.\n", ""), ended);
    }

    /** An image has no ~/.m2 of the user that built, and a tree may be moved. */
    @Test
    void shouldHaveEveryJarInATreeThatIsMoved() throws Exception {
        Path repository = Files.createDirectories(folder.resolve("m2"));
        Files.writeString(repository.resolve("library-1.jar"), "library");
        tree.script("mvnw", """
                mkdir -p cli/target wire/target
                : > cli/target/troupe-cli-1.jar; : > wire/target/troupe-wire-1.jar
                printf '%%s' "$PWD/wire/target/troupe-wire-1.jar:%s/library-1.jar" > cli/target/dependencies.classpath
                """.formatted(repository));
        Map<String, String> java = tree.java("echo \"$@\"\n");
        assertEquals(0, tree.launch(java, "doctor").exitCode());
        Files.delete(repository.resolve("library-1.jar"));

        Ended moved = tree.shell(java, """
                mv root $'moved \\303\\251' && exec ./moved*/troupe doctor | sed "s%$PWD/moved [^/]*%ROOT%g"
                """);

        assertEquals(0, moved.exitCode(), moved.errors());
        assertEquals("", moved.errors(), "nothing is built again");
        assertTrue(moved.output().contains(
                "-cp ROOT/cli/target/troupe-cli-1.jar:ROOT/wire/target/troupe-wire-1.jar:ROOT/target/lib/library-1.jar"),
                moved.output());
    }

    /** The second without the program, as on macOS. */
    @ParameterizedTest
    @ValueSource(strings = {"none", "flock"})
    void shouldBuildOnceForTwoCommands(String missing) throws Exception {
        tree.script("mvnw", """
                echo built >> builds
                read -r _ < gate
                mkdir -p cli/target/classes && : > cli/target/dependencies.classpath
                """);
        assertEquals(0, tree.shell(Map.of(), "mkfifo root/gate").exitCode());
        Map<String, String> java = new HashMap<>(tree.java("echo started\n"));
        java.put("BASH_FUNC_command%%", "() { [ \"$2\" != " + missing + " ] && builtin command \"$@\"; }");
        List<String> command = List.of(tree.root.resolve("troupe").toString(), "doctor");
        Process first = tree.builder(java, command).start();
        try (BufferedReader firstSays = first.errorReader()) {
            assertEquals(BUILDING.strip(), firstSays.readLine());
            Process second = tree.builder(java, command).start();
            try (BufferedReader secondSays = second.errorReader()) {
                assertEquals("troupe: another command is building " + tree.root
                        + "; this one waits for it, for 30 minutes at most", secondSays.readLine());
                Files.writeString(tree.root.resolve("gate"), "go on\n");
                assertTrue(second.waitFor(60, TimeUnit.SECONDS) && first.waitFor(60, TimeUnit.SECONDS));
                assertEquals("started", second.inputReader().readLine());
                assertEquals(null, secondSays.readLine());
            } finally {
                second.destroyForcibly();
            }
        } finally {
            first.destroyForcibly();
        }
        assertEquals(List.of("built"), Files.readAllLines(tree.root.resolve("builds")));
    }

    @Test
    void shouldMakeCachesOfClassesAnewWhenAJarHasChanged() throws Exception {
        Path jar = tree.takeAJar();
        Path list = tree.root.resolve("started");
        Map<String, String> java = tree.java(LISTS_AND_CACHES.formatted(list));

        assertEquals(PREPARING, tree.launch(java, "train").errors());
        assertEquals(PREPARING, tree.launch(java, "schedule", "1f1b").errors());
        List<String> started = Files.readAllLines(list);
        assertEquals(4, started.size(), started.toString());
        assertTrue(started.get(1).contains("-XX:AOTCache=" + tree.target().resolve("compute.aot")), started.get(1));
        assertTrue(started.get(1).contains("--add-modules=jdk.incubator.vector"), started.get(1));
        assertTrue(started.get(3).contains("-XX:AOTCache=" + tree.target().resolve("plan.aot")), started.get(3));
        assertFalse(started.get(3).contains("--add-modules"), started.get(3));
        assertTrue(started.get(3).contains("-XX:TieredStopAtLevel=1"), started.get(3));
        assertEquals("", tree.launch(java, "schedule", "1f1b", "--pipeline", "256").errors());
        String large = Files.readAllLines(list).get(4);
        assertFalse(large.contains("TieredStopAtLevel"), "a large plan has both compilers: " + large);

        Files.setLastModifiedTime(jar, FileTime.from(Instant.now().plusSeconds(60)));
        assertEquals(PREPARING, tree.launch(java, "keys").errors());
    }

    @Test
    void shouldTrainForACacheOnlyBeforeATraining() throws Exception {
        tree.takeAJar();
        Path list = tree.root.resolve("started");
        Map<String, String> java = tree.java(LISTS_AND_CACHES.formatted(list));
        for (String command : List.of("schedule", "keys", "status", "completion", "--help", "--version", "page",
                "doctor", "export", "train --help", "launch -h")) {
            assertEquals(0, tree.launch(java, command.split(" ")).exitCode());
        }
        assertEquals(List.of(), Files.readAllLines(list).stream()
                .filter(line -> line.contains("AOTCacheOutput") && line.contains(" train ")).toList());
        assertFalse(Files.exists(tree.target().resolve("compute.aot")));
        assertEquals(PREPARING, tree.launch(java, "train").errors());
        assertTrue(Files.exists(tree.target().resolve("compute.aot")));
    }

    @Test
    void shouldStartWithoutACacheThatAnotherCommandMakes() throws Exception {
        tree.takeAJar();
        assertEquals(0, tree.shell(Map.of(), "mkfifo gate").exitCode());
        Map<String, String> java = tree.java("""
                for flag in "$@"; do
                  case $flag in -XX:AOTCacheOutput=*) read -r _ < "%s"; echo classes > "${flag#*=}" ;; esac
                done
                echo "$@"
                """.formatted(folder.resolve("gate")));
        Process first = tree.builder(java, List.of(tree.root.resolve("troupe").toString(), "train")).start();
        try (BufferedReader says = first.errorReader()) {
            assertEquals(PREPARING.strip(), says.readLine());
            Ended second = tree.launch(java, "train");
            assertEquals("", second.errors());
            assertFalse(second.output().contains("AOT"), second.output());
            Files.writeString(folder.resolve("gate"), "go on\n");
            assertTrue(first.waitFor(60, TimeUnit.SECONDS));
            assertTrue(first.inputReader().readLine().contains("-XX:AOTCache="));
        } finally {
            first.destroyForcibly();
        }
        try (Stream<Path> files = Files.list(tree.target())) {
            assertEquals(List.of("aot.lock", "compute.aot", "troupe-cli-1.jar", "troupe.classpath"),
                    files.map(file -> file.getFileName().toString()).sorted().toList());
        }
    }

    @Test
    void shouldTryAgainAnHourAfterNoCacheCouldBeMade() throws Exception {
        tree.takeAJar();
        Map<String, String> java = tree.java(NO_CACHE);
        Ended first = tree.launch(java, "train");
        assertEquals(new Ended(0, PREPARING, first.output()), first);
        assertFalse(first.output().contains("AOT"), first.output());
        LaunchedTree.assertQuiet(first.output(), tree.launch(java, "train"));

        Files.setLastModifiedTime(tree.target().resolve("compute.aot.failed"),
                FileTime.from(Instant.now().minus(Duration.ofMinutes(62))));
        Files.setLastModifiedTime(tree.target().resolve("troupe-cli-1.jar"),
                FileTime.from(Instant.now().minus(Duration.ofMinutes(70))));
        assertEquals(PREPARING, tree.launch(java, "train").errors());
        assertEquals(2, Files.readAllLines(folder.resolve("tries")).size());
    }

    @Test
    void shouldPrintNothingBeforeTheCommandDoes() throws Exception {
        tree.takeThisBuild();
        Ended version = tree.launch(Map.of(), "--version");
        LaunchedTree.assertQuiet(version.output(), version);

        Ended refused = tree.launch(Map.of(), "train", "-s", "model.layer=3");
        assertEquals(ExitCode.WRONG_REQUEST, refused.exitCode());
        assertTrue(refused.errors().startsWith("troupe: model.layer"), refused.errors());
    }

    @Test
    void shouldRefuseAJdkThatIsTooOld() throws Exception {
        Map<String, String> java = tree.java("echo started\n");
        Path jdk = folder.resolve("jdk");
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"17.0.9\"\n");
        assertEquals(
                new Ended(2, "troupe: TROUPE_JAVA_HOME must name a JDK 25 or later, but " + jdk + " holds JDK 17.\n",
                        ""),
                tree.launch(java, "doctor"));
    }

    @Test
    void shouldPassOnTheMessageOfAJvmThatCannotStart() throws Exception {
        tree.takeThisBuild();
        Ended ended = tree.launch(Map.of("TROUPE_JVM_FLAGS", "-XX:NoSuchFlag=1"), "--version");
        assertEquals(1, ended.exitCode());
        assertTrue(ended.errors().startsWith("Unrecognized VM option 'NoSuchFlag=1'"), ended.errors());
    }
}
