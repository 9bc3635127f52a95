package dev.troupe.cli;

import dev.troupe.cli.stop.Signals;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A terminal with a command in it, which is the leader of its session: what is typed reaches all processes of the
 * command, Ctrl-C as SIGINT. Signals have their own effect there, also where this JVM was started with some of them
 * ignored.
 */
final class PseudoTerminal implements AutoCloseable {
    private static final String CTRL_C = "\3";
    private static final int READ_WRITE_AND_NOT_MINE = 2 | 0400;
    private static final int BUFFER = 4096;

    private static final MethodHandle OPEN = libc("posix_openpt",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle GRANT = libc("grantpt",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle UNLOCK = libc("unlockpt",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    private static final MethodHandle NAME = libc("ptsname_r", FunctionDescriptor.of(ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle READ = libc("read", FunctionDescriptor.of(ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle WRITE = libc("write", FunctionDescriptor.of(ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle CLOSE = libc("close",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    private final int master;
    private final Process process;
    private final Thread reader;
    private final ByteArrayOutputStream shown = new ByteArrayOutputStream();

    private PseudoTerminal(int master, Process process) {
        this.master = master;
        this.process = process;
        this.reader = Thread.ofPlatform().daemon().name("terminal").start(this::read);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle libc(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
    }

    static PseudoTerminal start(List<String> command) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            int master = (int) OPEN.invokeExact(READ_WRITE_AND_NOT_MINE);
            MemorySegment name = arena.allocate(BUFFER);
            if (master < 0 || (int) GRANT.invokeExact(master) != 0 || (int) UNLOCK.invokeExact(master) != 0
                    || (int) NAME.invokeExact(master, name, (long) BUFFER) != 0) {
                throw new IOException("the system gives no pseudo-terminal");
            }
            File slave = new File(name.getString(0));
            List<String> line = new ArrayList<>(List.of("setsid", "--ctty", "env", "--default-signal=INT,TERM,HUP"));
            line.addAll(command);
            return new PseudoTerminal(master, new ProcessBuilder(line).redirectInput(slave).redirectOutput(slave)
                    .redirectError(slave).start());
        } catch (IOException failure) {
            throw failure;
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private void read() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(BUFFER);
            while (true) {
                long count = (long) READ.invokeExact(master, buffer, (long) BUFFER);
                if (count <= 0) {
                    return; // nobody is in the terminal any more
                }
                synchronized (shown) {
                    shown.write(buffer.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE), 0, (int) count);
                    shown.notifyAll();
                }
            }
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    void type(String text) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(text);
            long written = (long) WRITE.invokeExact(master, bytes, bytes.byteSize() - 1);
            if (written != text.length()) {
                throw new IllegalStateException("the terminal took " + written + " bytes of " + text.length());
            }
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    void typeCtrlC() {
        type(CTRL_C);
    }

    ProcessHandle process() {
        return process.toHandle();
    }

    /** All that the command has shown until now. */
    String shown() {
        synchronized (shown) {
            return shown.toString(StandardCharsets.UTF_8).replace("\r\n", "\n");
        }
    }

    /** Waits until the command has shown a text. */
    void await(String text, long seconds) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        synchronized (shown) {
            while (!shown().contains(text)) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (left <= 0 || !process.isAlive() && !reader.isAlive()) {
                    throw new AssertionError("expected \"" + text + "\" in: " + shown());
                }
                shown.wait(Math.min(left, 100));
            }
        }
    }

    /** Waits for the end of the command; returns its exit code, a signal as 128 and its number. */
    int awaitEnd(long seconds) throws InterruptedException {
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            throw new AssertionError("it has not ended within " + seconds + " seconds: " + shown());
        }
        reader.join(TimeUnit.SECONDS.toMillis(seconds));
        return process.exitValue();
    }

    /** Ends the command, if it has not, and takes the terminal away. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            reader.join(TimeUnit.SECONDS.toMillis(10));
            int _ = (int) CLOSE.invokeExact(master);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } catch (Throwable impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
