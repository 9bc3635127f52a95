package dev.troupe.plan.directory;

import dev.troupe.tokenizer.file.BoundedFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The process that holds the lock of a run's directory, from the lock file.
 *
 * @param machine the scope of its process number: the boot of the kernel, and the PID namespace
 * @param start its start, since process numbers are reused
 */
record LockHolder(String machine, long process, Instant start) {
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path NAMESPACE = Path.of("/proc/self/ns/pid");
    private static final Duration CLOCK_ERROR = Duration.ofSeconds(2);

    /** Writes this process into a lock file; does nothing if the system does not name the process, or the disk is full. */
    static void write(FileChannel lock) {
        Optional<String> machine = here();
        Optional<Instant> start = ProcessHandle.current().info().startInstant();
        try {
            lock.truncate(0);
            if (machine.isPresent() && start.isPresent()) {
                String text = String.join("\n", machine.get(), "" + ProcessHandle.current().pid(),
                        start.get().toString());
                lock.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
            }
        } catch (IOException _) {
            // The lock is valid without a name, and a process without a name is never killed.
        }
    }

    static void erase(FileChannel lock) {
        try {
            lock.truncate(0);
        } catch (IOException _) {
            // If the name remains, another process only waits a little longer.
        }
    }

    /** Reads the process that a lock file names; empty if it names none. */
    static Optional<LockHolder> read(Path lock) {
        try {
            List<String> lines = BoundedFile.text(lock).lines().toList();
            return lines.size() == 3
                    ? Optional
                            .of(new LockHolder(lines.get(0), Long.parseLong(lines.get(1)), Instant.parse(lines.get(2))))
                    : Optional.empty();
        } catch (IOException | RuntimeException _) {
            return Optional.empty(); // the process has ended, or its number is another program's
        }
    }

    /** Returns whether the process was one of this machine, and has ended. */
    boolean isGone() {
        return here().filter(machine::equals).isPresent() && found().isEmpty();
    }

    private Optional<ProcessHandle> found() {
        return ProcessHandle.of(process).filter(found -> found.info().startInstant()
                .filter(its -> Duration.between(its, start).abs().compareTo(CLOCK_ERROR) < 0).isPresent());
    }

    /** Kills the process, if it is another one of this machine; returns whether it did. */
    boolean kill() {
        return here().filter(machine::equals).isPresent() && process != ProcessHandle.current().pid()
                && found().map(ProcessHandle::destroyForcibly).orElse(false);
    }

    private static Optional<String> here() {
        try {
            return Optional.of(Files.readString(BOOT).strip() + " " + Files.readSymbolicLink(NAMESPACE));
        } catch (IOException _) {
            return Optional.empty(); // no Linux
        }
    }
}
