package dev.troupe.plan.directory;

import dev.troupe.config.RunSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.CheckpointStore;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of a run: {@code config.conf}, {@code metrics.jsonl}, {@code checkpoints/}, {@code model/}. It is locked
 * during the run, so that no other run writes there.
 */
public final class RunDirectory implements AutoCloseable {
    /** The name of the resolved configuration in a run's directory. */
    public static final String CONFIG = "config.conf";
    /** The name of the folder of the nodes' logs. */
    public static final String LOGS = "logs";
    /** The name of the folder of the trained model, or of its adapters. */
    public static final String MODEL = "model";
    /** The name of the key by which the processes of a run over several JVMs recognize each other. */
    public static final String KEY = "run.key";
    private static final Logger LOG = LoggerFactory.getLogger(RunDirectory.class);
    private static final Duration LOOK_AGAIN = Duration.ofMillis(100);

    private final Path path;
    private final RunLock lock;

    private RunDirectory(Path path, RunLock lock) {
        this.path = path;
        this.lock = lock;
    }

    /**
     * Checks that this directory is empty or does not exist yet; writes nothing.
     *
     * @throws UsageException if it has files or cannot be created
     */
    public static void requireFree(Path path) {
        if (Files.exists(path) && !Files.isDirectory(path)) {
            throw new UsageException(new DirectoryState.NoDirectory().whyNotBegin(path).orElseThrow());
        }
        if (!isFree(path)) {
            throw new UsageException("the output directory " + path + " is in use: it must be empty or not there yet;"
                    + " choose another with --out");
        }
        requireMakeable(path);
    }

    /**
     * Checks that a run may begin in this directory, also if one ended before its first checkpoint; writes nothing.
     *
     * @return whether a run has ended in the directory
     * @throws UsageException if it has other files, or cannot be created
     */
    public static boolean requireBeginnable(Path path) {
        DirectoryState state = DirectoryState.of(path);
        state.whyNotBegin(path).ifPresent(why -> {
            throw new UsageException(why);
        });
        requireMakeable(path);
        return state instanceof DirectoryState.WithoutCheckpoint;
    }

    /**
     * Checks that a run may resume in this directory; writes nothing.
     *
     * @throws UsageException if it has a run without a checkpoint
     */
    public static void requireResumable(Path path) {
        DirectoryState.of(path).whyNotResume(path).ifPresent(why -> {
            throw new UsageException(why);
        });
    }

    private static void requireMakeable(Path path) {
        Path ancestor = path.toAbsolutePath();
        while (!Files.exists(ancestor)) {
            ancestor = ancestor.getParent();
        }
        if (!Files.isDirectory(ancestor) || !Files.isWritable(ancestor)) {
            throw new UsageException("the output directory " + path + " cannot be made, since " + ancestor
                    + " is not a directory one may write to; choose another with --out");
        }
        requireToBeMade(path.toAbsolutePath().normalize());
    }

    /** Creates the directory and deletes it at once, since some file systems refuse directories without an error. */
    private static void requireToBeMade(Path path) {
        Path ancestor = path;
        while (!Files.exists(ancestor)) {
            ancestor = ancestor.getParent();
        }
        Path made = ancestor;
        try {
            while (!made.equals(path)) {
                made = Files.createDirectory(made.resolve(path.getName(made.getNameCount())));
            }
        } catch (FileAlreadyExistsException _) {
            return; // another process of the run was quicker
        } catch (IOException failure) {
            throw new UsageException(
                    "the output directory " + path + " cannot be made, since the file system lets nobody"
                            + " make that below " + made + "; choose another with --out",
                    failure);
        } finally {
            for (; !made.equals(ancestor); made = made.getParent()) {
                try {
                    Files.deleteIfExists(made);
                } catch (IOException _) {
                    break; // another run has begun to use it
                }
            }
        }
    }

    public static Path usual(RunSpec spec) {
        return Path.of("runs", spec.name());
    }

    /**
     * Returns the configuration that a resumed run wrote.
     *
     * @param resumed the directory of the run, or of one of its checkpoints
     * @throws UsageException if it has none
     */
    public static Path configOf(Path resumed) {
        Path file = Checkpoint.runDirectoryOf(resumed).resolve(CONFIG);
        if (!Files.isRegularFile(file)) {
            throw new UsageException("--resume " + resumed + " names no run: there is no " + file
                    + "; name the directory of a run, or give the run's CONFIG too");
        }
        return file;
    }

    /** Returns the first of DIR, DIR-2, DIR-3 and so on that is empty or does not exist yet. */
    public static Path firstFree(Path wanted) {
        return firstFree(wanted, _ -> false);
    }

    /** As {@link #firstFree(Path)}, without directories that are reserved although they are still empty. */
    public static Path firstFree(Path wanted, Predicate<Path> isTaken) {
        Path candidate = wanted;
        for (int number = 2; isTaken.test(candidate) || !isFree(candidate); number++) {
            candidate = wanted.resolveSibling(wanted.getFileName() + "-" + number);
        }
        return candidate;
    }

    /** Whether a directory does not exist yet, or has at most logs and a key, which nodes write before a run. */
    public static boolean isFree(Path path) {
        return holdsOnly(path, Set.of(LOGS, KEY));
    }

    /** Whether a directory does not exist yet, or has no other entries than these. */
    static boolean holdsOnly(Path path, Set<String> names) {
        try (Stream<Path> entries = Files.list(path)) {
            return entries.allMatch(entry -> names.contains(entry.getFileName().toString()));
        } catch (IOException _) {
            return !Files.exists(path); // a file of that name is not free
        }
    }

    /** Creates the directory with access for this user only; an existing one is not changed. */
    public static void make(Path path) throws IOException {
        Path whole = path.toAbsolutePath();
        if (Files.isDirectory(whole)) {
            return;
        }
        Files.createDirectories(whole.getParent());
        try {
            Files.createDirectory(whole,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException _) {
            Files.createDirectories(whole); // another process was quicker, or it is a file
        }
    }

    /**
     * Creates the directory if it does not exist, and locks it.
     *
     * @throws UsageException if another run has locked it, or it cannot be written to
     */
    public static RunDirectory open(Path path) {
        try {
            make(path);
            return new RunDirectory(path,
                    RunLock.take(path).orElseThrow(() -> new UsageException("the output directory "
                            + path
                            + " is in use: another run writes to it; wait for its end, or choose another with --out")));
        } catch (IOException failure) {
            throw unwritable(path, failure);
        }
    }

    /** Returns the refusal of a directory that cannot be written to, or is on a full disk. */
    public static UsageException unwritable(Path path, IOException failure) {
        return new UsageException("cannot write to the output directory " + path + " (" + FileReason.of(failure)
                + "); make room there, or choose another with --out", failure);
    }

    /**
     * Checks under the lock that a run may begin here: another one may have begun and ended since the first checks.
     *
     * @throws UsageException if the directory has more than a run that ended before its first checkpoint
     */
    public void requireStillBeginnable() {
        DirectoryState.underLock(path).whyNotBegin(path).ifPresent(why -> {
            throw new UsageException(why);
        });
    }

    /**
     * Locks the directory of a run that continues after the process with the lock has ended, or is about to end. If that
     * process does not end and is on this machine, it is killed, since the cluster has removed it.
     *
     * @param patience longest wait for its end, and again after it was killed
     * @throws UsageException if it still holds the lock, or the directory cannot be written to
     */
    public static RunDirectory takeOver(Path path, Duration patience) {
        long sinceNanos = System.nanoTime();
        boolean isKilled = false;
        while (true) {
            try {
                return open(path);
            } catch (UsageException inUse) {
                if (System.nanoTime() - sinceNanos > patience.toNanos()) {
                    Optional<LockHolder> holder = RunLock.otherHolder(path);
                    if (isKilled || !holder.map(LockHolder::kill).orElse(false)) {
                        throw inUse;
                    }
                    LOG.warn("process {}, from which the others have parted, kept {} and was killed",
                            holder.get().process(), path);
                    isKilled = true;
                    sinceNanos = System.nanoTime();
                }
                LockSupport.parkNanos(LOOK_AGAIN.toNanos());
            }
        }
    }

    /** Marks the run as over, so that no process kills this one while it writes the last files. */
    public void keepToTheEnd() {
        lock.eraseHolder();
    }

    /**
     * Whether a process seems to write to the directory. It does not try the lock, since a run that begins would then find
     * it taken. So a killed process is noticed only if it was on this machine.
     */
    public static boolean isHeld(Path path) {
        return RunLock.isHeld(path);
    }

    public Path path() {
        return path;
    }

    public Path config() {
        return path.resolve(CONFIG);
    }

    public Path metrics() {
        return path.resolve("metrics.jsonl");
    }

    public Path checkpoint(long stepsDone) {
        return CheckpointStore.directoryOf(path, stepsDone);
    }

    public Path model() {
        return path.resolve(MODEL);
    }

    public Path gradients(long step) {
        return path.resolve("gradients-step-" + step + ".safetensors");
    }

    @Override
    public void close() {
        lock.close();
    }
}
