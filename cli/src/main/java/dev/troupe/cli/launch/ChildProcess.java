package dev.troupe.cli.launch;

import dev.troupe.cli.stop.ParentWatch;
import dev.troupe.cli.stop.ProgressAnswer;
import dev.troupe.cli.stop.StandardError;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A child process that runs this command, with its own log; it ends with this process. */
public final class ChildProcess {
    /** The main class of the command, by name, since its package uses this one. */
    private static final String MAIN = "dev.troupe.cli.Troupe";
    /** The number that a shell adds to the signal that ended a process, to get the exit code. */
    private static final int SIGNALS = 128;

    /**
     * A terminal sends Ctrl-C and its own end to all its processes. Child processes learn of both from this process, at the
     * right time, and ignore the signals from before their JVM starts.
     */
    private static final List<String> SHELL = List.of("/bin/sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh");

    private final String name;
    private final Process process;
    private final PrintStream log;
    private final List<Thread> readers = new ArrayList<>();

    private ChildProcess(String name, Process process, PrintStream log) {
        this.name = name;
        this.process = process;
        this.log = log;
    }

    /**
     * Starts a process, with the flags and the class path of this one.
     *
     * @param log the file to which every line of the process is appended, except answers to this process
     * @param onOutput receives each line of its standard output, on a thread of its own
     * @param onError receives each line of its standard error, on another
     */
    public static ChildProcess start(String name, List<String> arguments, Path log, Consumer<String> onOutput,
            Consumer<String> onError) {
        List<String> command = new ArrayList<>(SHELL);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> !flag.startsWith("-D" + StandardError.PROPERTY + "=")).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"),
                MAIN));
        command.addAll(arguments);
        command.add("--launched");
        try {
            PrintStream lines = new PrintStream(new FileOutputStream(log.toFile(), true), true, StandardCharsets.UTF_8);
            ChildProcess child = new ChildProcess(name,
                    new ProcessBuilder(command).start(), lines);
            child.read(child.process.getInputStream(), onOutput);
            child.read(child.process.getErrorStream(), onError);
            return child;
        } catch (IOException failure) {
            throw new UncheckedIOException("could not start " + name, failure);
        }
    }

    private void read(InputStream stream, Consumer<String> listener) {
        readers.add(Thread.ofPlatform().daemon().name(name + "-output").start(() -> {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                String line;
                while ((line = lines.readLine()) != null) {
                    if (line.equals(StandardError.INCUBATOR_WARNING)) {
                        continue;
                    }
                    if (ProgressAnswer.of(line).isEmpty()) {
                        log.println(line);
                    }
                    listener.accept(line);
                }
            } catch (IOException ended) {
                log.println("the output of " + name + " broke off: " + ended);
            }
        }));
    }

    String name() {
        return name;
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Asks the process to stop, with a checkpoint if it trains. */
    void stop() {
        say(ParentWatch.STOP);
    }

    /** Asks the process to stop at once. */
    void stopNow() {
        say(ParentWatch.STOP_NOW);
    }

    /** Asks the process for the committed steps; its output has the {@link ProgressAnswer}. */
    void askProgress(long question, boolean areOthersStarting) {
        say(ProgressAnswer.ask(question, areOthersStarting));
    }

    private void say(String line) {
        try {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException _) {
            // The process has ended.
        }
    }

    /**
     * Sends SIGTERM. Unlike {@link Process#destroy}, this still reads the lines that the process prints until its end.
     */
    public void terminate() {
        process.toHandle().destroy();
    }

    void kill() {
        process.toHandle().destroyForcibly();
    }

    /** Waits for the end of the process; returns whether it has ended and all its lines are read. */
    public boolean awaitEnd(long timeout, TimeUnit unit) throws InterruptedException {
        long deadline = System.nanoTime() + unit.toNanos(timeout);
        if (!process.waitFor(timeout, unit)) {
            return false;
        }
        for (Thread reader : readers) {
            if (!reader.join(Duration.ofNanos(deadline - System.nanoTime()))) {
                return false;
            }
        }
        return true;
    }

    /** Returns how the process ended, in words. */
    String howItEnded() {
        return exitCode() > SIGNALS ? "by signal " + (exitCode() - SIGNALS) : "with exit code " + exitCode();
    }

    /** Returns the exit code of the process, once it has ended. */
    public int exitCode() {
        return process.exitValue();
    }

    /** Ends the process, by force if it does not exit by itself within the patience, and closes its log. */
    public void end(long patience, TimeUnit unit) throws InterruptedException {
        stopNow();
        if (!awaitEnd(patience, unit)) {
            kill();
            awaitEnd(patience, unit);
        }
        log.close();
    }
}
