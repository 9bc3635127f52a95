package dev.troupe.bench.hop;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The process of rank 1, which runs until this one closes its standard input. Thread rule: one thread. */
final class OtherProcess implements AutoCloseable {
    private final Process process;

    private OtherProcess(Process process) {
        this.process = process;
    }

    /**
     * Starts a program in a JVM with the flags of this one.
     *
     * @param before words in front of the command, such as those that enter a network namespace
     */
    static OtherProcess start(Class<?> program, List<String> arguments, String... before) throws IOException {
        List<String> command = new ArrayList<>(List.of(before));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(arguments);
        return new OtherProcess(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    /** In the other process: reports that it is ready, and returns when this process ends it. */
    static void serve() throws IOException {
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // Waits until the pipe is closed.
        }
    }

    ProcessHandle handle() {
        return process.toHandle();
    }

    void awaitReady() throws IOException {
        if (process.getInputStream().read() < 0) {
            throw new IllegalStateException("the other process did not start");
        }
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            if (!process.waitFor(HopEnd.TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
