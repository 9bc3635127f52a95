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

/** Another JVM with a cache of its own: the table that {@code doctor} leaves there decides bits of later runs. */
final class OtherJvm {
    private static final int PATIENCE_SECONDS = 200;

    private OtherJvm() {
    }

    /**
     * Runs a main class to its end, which has to be a good one.
     *
     * @param directory for its cache and its output
     * @param environment more variables for it
     * @param flags more flags than the modules' and the class path, which are this JVM's
     */
    static void run(Path directory, Map<String, String> environment, List<String> flags, Class<?> main,
            List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                .toString()));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--")).forEach(command::add);
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        Path said = directory.resolve("said.txt");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
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
