package dev.troupe.rank.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Locale;

/** The damage to a process that has the whole run; it does not include damage between nodes. */
public class ProcessDamage implements NodeDamage {
    /** The exit code of a process that an injected fault ended, EX_SOFTWARE of sysexits.h. */
    public static final int EXIT_CODE = 70;

    /** 48 MB, so that a collection takes the same time as in a large program. */
    private static final int HELD_OBJECTS = 3_000_000;

    /** An object in a chain: it lives as long as its predecessor. */
    private record Held(Held next) {
    }

    @Override
    public final void exit() {
        // Not System.exit, which would run the hooks that end a run in order.
        Runtime.getRuntime().halt(EXIT_CODE);
    }

    @Override
    public final void kill() {
        kill(ProcessHandle.current().pid());
    }

    /** Ends another process, or this one, by SIGKILL. */
    protected static void kill(long process) {
        shell("kill -KILL %d", process);
    }

    @Override
    public final void freeze(Duration length) {
        shell("kill -STOP %1$d && sleep %2$.3f; kill -CONT %1$d", ProcessHandle.current().pid(),
                length.toMillis() / 1e3);
    }

    @Override
    public final void collectGarbage(Duration length) {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        // After the first collection the JVM loads classes to report on it; it does that while the objects are made.
        memory.gc();
        Held held = null;
        for (int count = 0; count < HELD_OBJECTS; count++) {
            held = new Held(held);
        }
        long start = System.nanoTime();
        while (System.nanoTime() - start < length.toNanos()) {
            memory.gc();
        }
        Reference.reachabilityFence(held);
    }

    /** Runs a shell command, since this process may be stopped or dead while the command runs. */
    private static void shell(String command, Object... arguments) {
        try {
            new ProcessBuilder("/bin/sh", "-c", String.format(Locale.ROOT, command, arguments)).start().waitFor();
        } catch (IOException failure) {
            throw new UncheckedIOException("a fault could not strike", failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void killDriver() {
        throw needsNodes();
    }

    @Override
    public void cutControl(Duration length) {
        throw needsNodes();
    }

    @Override
    public void cutData(Duration length) {
        throw needsNodes();
    }

    @Override
    public boolean leads() {
        return true;
    }

    private static IllegalStateException needsNodes() {
        return new IllegalStateException("a run in one process has no link to cut and no media driver");
    }
}
