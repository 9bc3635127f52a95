package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process with the class path and the flags of this one, for tests that need a separate JVM. */
public final class JavaProcess {
    private JavaProcess() {
    }

    /** Returns the output of a main class, after its exit code if that is not 0. */
    public static String output(Class<?> main, String... arguments) throws IOException, InterruptedException {
        return output(System.getProperty("java.class.path"), List.of(), main, arguments);
    }

    /** As {@link #output(Class, String...)}, with another class path and more flags. */
    static String output(String classPath, List<String> flags, Class<?> main, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith("-X") || flag.startsWith("--"))
                .forEach(command::add);
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            assertTrue(process.waitFor(3, TimeUnit.MINUTES), "a process does not end after the output: " + output);
            return process.exitValue() == 0 ? output : "exit " + process.exitValue() + " " + output;
        } finally {
            process.destroyForcibly();
        }
    }
}
