package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/**
 * The output of one execution of the command in this JVM.
 *
 * @param exitCode the exit code
 * @param output the text on the standard output
 * @param errors the text on the standard error, log lines included
 */
public record Execution(int exitCode, String output, String errors) {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    static {
        LoggerFactory.getILoggerFactory(); // before a node of a cluster has it log events, which would be for the whole JVM
    }

    /** Executes the command as the shell would; afterwards nothing of it is left in shared memory. */
    public static Execution of(List<String> arguments) {
        PrintStream standardOutput = System.out;
        PrintStream standardError = System.err;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        int exitCode;
        try {
            System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
            exitCode = Troupe.commandLine().execute(arguments.toArray(String[]::new));
        } finally {
            System.setOut(standardOutput);
            System.setErr(standardError);
        }
        Execution execution = new Execution(exitCode, output.toString(StandardCharsets.UTF_8),
                errors.toString(StandardCharsets.UTF_8));
        assertEquals(List.of(), leftInSharedMemory(ProcessHandle.current().pid()), execution.errors());
        return execution;
    }

    /** A command with its arguments. */
    public static Execution command(String... arguments) {
        return of(List.of(arguments));
    }

    /**
     * {@code troupe train} with settings, each without its {@code -s}, into a directory. Unless they ask for it, the model
     * writes no text at the end, which would take longer than most of these runs.
     */
    public static Execution train(Path out, List<String> settings, String... more) {
        List<String> arguments = new ArrayList<>(
                List.of("train", "--out", out.toString(), "-s", "observe.sample-tokens=0"));
        settings.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        arguments.addAll(List.of(more));
        return of(arguments);
    }

    /** {@code troupe train --resume} with further arguments. */
    public static Execution resume(Path run, String... more) {
        List<String> arguments = new ArrayList<>(List.of("train", "--resume", run.toString()));
        arguments.addAll(List.of(more));
        return of(arguments);
    }

    /** The media driver's directories of a process. */
    static List<Path> leftInSharedMemory(long processId) {
        if (!Files.isDirectory(SHARED_MEMORY)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(SHARED_MEMORY)) {
            return entries.filter(entry -> entry.getFileName().toString().startsWith("troupe-" + processId + "-"))
                    .toList();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    public Execution requireDone() {
        assertEquals("", errors, output);
        assertEquals(ExitCode.DONE, exitCode, output);
        return this;
    }

    /** One sentence, and nothing else: no log line, no stack trace. */
    void requireRefused(String... parts) {
        assertEquals(ExitCode.WRONG_REQUEST, exitCode, errors);
        requireSentence(parts);
        assertEquals(1, errors.lines().count(), errors);
    }

    void requireFailed(String... parts) {
        assertEquals(ExitCode.RUN_FAILED, exitCode, errors);
        requireSentence(parts);
    }

    private void requireSentence(String... parts) {
        assertTrue(errors.startsWith("troupe: "), errors);
        for (String part : parts) {
            assertTrue(errors.contains(part), () -> "expected \"" + part + "\" in: " + errors);
        }
        assertFalse(errors.contains("\tat "), errors);
    }
}
