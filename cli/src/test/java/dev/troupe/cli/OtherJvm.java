package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Another JVM of a test. */
public final class OtherJvm {
    private static final int PATIENCE_SECONDS = 200;

    private OtherJvm() {
    }

    /** The flags of this JVM for modules and vectors. */
    private static List<String> inheritedFlags() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith("--") || flag.startsWith("-XX:UseAVX=")).toList();
    }

    /** The flags of a JVM that lives for seconds: without the second compiler and without a second collecting thread. */
    public static List<String> briefFlags() {
        List<String> flags = new ArrayList<>(inheritedFlags());
        flags.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        return flags;
    }

    /** The command that runs a main class with the class path of this JVM. */
    public static List<String> command(List<String> flags, Class<?> main, List<String> arguments) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        return command;
    }

    /**
     * Runs a main class to its end, which has to be a good one. It has a cache of its own, since the table that {@code
     * doctor} leaves there decides bits of later runs.
     *
     * @param directory for its cache and its output
     * @param environment more variables for it
     * @param flags more flags than the modules' and the class path, which are this JVM's
     */
    static void run(Path directory, Map<String, String> environment, List<String> flags, Class<?> main,
            List<String> arguments) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(inheritedFlags());
        all.addAll(flags);
        Path said = directory.resolve("said.txt");
        ProcessBuilder builder = new ProcessBuilder(command(all, main, arguments)).redirectErrorStream(true)
                .redirectOutput(said.toFile());
        builder.environment().putAll(environment);
        builder.environment().put("XDG_CACHE_HOME", directory.toString());
        Process process = builder.start();
        try {
            assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS),
                    () -> "it did not end within " + PATIENCE_SECONDS + " seconds");
        } finally {
            process.destroyForcibly();
        }
        assertEquals(0, process.exitValue(), Files.readString(said));
    }
}
