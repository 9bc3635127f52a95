package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code ./troupe}, in a root of its own with this build's classes. */
@Tag("runtime")
@Timeout(120)
final class LauncherTest {
    private static final Path PROJECT = Path.of("..");
    private static final List<String> SCRIPTS = List.of("troupe", ".mvn/find-jdk");

    @TempDir
    private Path folder;
    private Path root;

    @BeforeEach
    void copy() throws IOException {
        root = Files.createDirectories(folder.resolve("root/.mvn")).getParent();
        for (String script : SCRIPTS) {
            Files.copy(PROJECT.resolve(script), root.resolve(script));
            assertTrue(root.resolve(script).toFile().setExecutable(true));
        }
    }

    @Test
    void shouldBuildWhetherSourcesAreFormattedOrNot() throws Exception {
        script("mvnw", """
                printf '%s\\n' "$@" > arguments
                mkdir -p cli/target/classes && : > cli/target/dependencies.classpath
                """);
        Path jdk = jdk("echo started\n");

        Ended ended = launch(Map.of("TROUPE_JAVA_HOME", jdk.toString()), "doctor");

        assertEquals(0, ended.exitCode(), ended.errors());
        assertEquals("started\n", ended.output());
        List<String> arguments = Files.readAllLines(root.resolve("arguments"));
        assertTrue(arguments.containsAll(List.of("-DskipTests", "-Dformatter.skip", "package")), arguments.toString());
    }

    @Test
    void shouldMakeCachesOfClassesAnewWhenAJarHasChanged() throws Exception {
        Path jar = takeAJar();
        Map<String, String> environment = Map.of("TROUPE_JAVA_HOME", jdk("""
                echo "$@" >> "%s"
                for flag in "$@"; do
                  case $flag in -XX:AOTCacheOutput=*) echo classes > "${flag#*=}" ;; esac
                done
                """.formatted(root.resolve("started"))).toString());

        assertEquals("troupe: preparing for quicker starts (some seconds)\n", launch(environment, "train").errors());
        assertEquals("", launch(environment, "schedule", "1f1b").errors());
        List<String> started = Files.readAllLines(root.resolve("started"));
        assertEquals(4, started.size(), started.toString());
        assertTrue(started.get(2).contains("-XX:AOTCache=" + root.resolve("cli/target/compute.aot")), started.get(2));
        assertTrue(started.get(2).contains("--add-modules=jdk.incubator.vector"), started.get(2));
        assertTrue(started.get(3).contains("-XX:AOTCache=" + root.resolve("cli/target/plan.aot")), started.get(3));
        assertFalse(started.get(3).contains("--add-modules"), started.get(3));
        assertTrue(started.get(3).contains("-XX:TieredStopAtLevel=1"), started.get(3));
        assertEquals("", launch(environment, "schedule", "1f1b", "--pipeline", "256").errors());
        String large = Files.readAllLines(root.resolve("started")).get(4);
        assertFalse(large.contains("TieredStopAtLevel"), "a large plan has both compilers: " + large);

        Files.setLastModifiedTime(jar, FileTime.from(Instant.now().plusSeconds(60)));
        assertEquals("troupe: preparing for quicker starts (some seconds)\n", launch(environment, "keys").errors());
    }

    @Test
    void shouldStartWithoutACacheWhereNoneCanBeMade() throws Exception {
        takeAJar();
        Map<String, String> environment = Map.of("TROUPE_JAVA_HOME", jdk("""
                case "$*" in *-XX:AOTCacheOutput=*) exit 1 ;; esac
                echo "$@"
                """).toString());
        Ended first = launch(environment, "train");
        assertEquals(0, first.exitCode());
        assertFalse(first.output().contains("AOT"), first.output());
        assertEquals(new Ended(0, "", first.output()), launch(environment, "train"), "nothing is tried again");
    }

    @Test
    void shouldSayNothingBeforeTheCommandDoes() throws Exception {
        takeThisBuild();
        Ended version = launch(Map.of(), "--version");
        assertEquals(new Ended(0, "", version.output()), version);

        Ended refused = launch(Map.of(), "train", "-s", "model.layer=3");
        assertEquals(ExitCode.WRONG_REQUEST, refused.exitCode());
        assertTrue(refused.errors().startsWith("troupe: model.layer"), refused.errors());
    }

    @Test
    void shouldRefuseAJdkThatIsTooOld() throws Exception {
        Path jdk = jdk("echo started\n");
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"17.0.9\"\n");
        Ended ended = launch(Map.of("TROUPE_JAVA_HOME", jdk.toString()), "doctor");
        assertEquals(2, ended.exitCode());
        assertEquals("troupe: TROUPE_JAVA_HOME must name a JDK 25 or later, but %s holds JDK 17.\n".formatted(jdk),
                ended.errors());
    }

    @Test
    void shouldPassOnWhatTheJvmSaysWhereItCannotStart() throws Exception {
        takeThisBuild();
        Ended ended = launch(Map.of("TROUPE_JVM_FLAGS", "-XX:NoSuchFlag=1"), "--version");
        assertEquals(1, ended.exitCode());
        assertTrue(ended.errors().startsWith("Unrecognized VM option 'NoSuchFlag=1'"), ended.errors());
    }

    /** A JDK whose {@code java} is a script. */
    private Path jdk(String java) throws IOException {
        Path jdk = Files.createDirectories(folder.resolve("jdk/bin")).getParent();
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25\"\n");
        script("../jdk/bin/javac", "");
        script("../jdk/bin/java", java);
        return jdk;
    }

    private Path takeAJar() throws IOException {
        Path target = Files.createDirectories(root.resolve("cli/target"));
        Files.writeString(target.resolve("dependencies.classpath"), "others.jar");
        return Files.writeString(target.resolve("troupe-cli-1.jar"), "");
    }

    private void takeThisBuild() throws IOException {
        Path target = Files.createDirectories(root.resolve("cli/target")); // the class path of this JVM has the classes
        Files.writeString(target.resolve("dependencies.classpath"), System.getProperty("java.class.path"));
    }

    private void script(String name, String body) throws IOException {
        Path file = root.resolve(name);
        Files.writeString(file, "#!/usr/bin/env bash\nset -e\n" + body);
        assertTrue(file.toFile().setExecutable(true));
    }

    private record Ended(int exitCode, String errors, String output) {
    }

    private Ended launch(Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(root.resolve("troupe").toString()));
        command.addAll(List.of(arguments));
        Path output = folder.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile())
                .redirectOutput(output.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("TROUPE_"));
        builder.environment().put("TROUPE_JAVA_HOME", System.getProperty("java.home"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        // To its end, as a pipe: the launcher's filter may outlive the JVM by a moment.
        String said = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), () -> command + " did not end");
        return new Ended(process.exitValue(), said, Files.readString(output));
    }
}
