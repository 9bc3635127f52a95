package dev.troupe.plan.directory;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import dev.troupe.plan.checkpoint.Checkpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/** The state of a directory in which a run is to begin or to resume. Nothing is written. */
sealed interface DirectoryState {
    /** A directory that does not exist yet, or has only logs. */
    record Free() implements DirectoryState {
    }

    /** Something other than a directory. */
    record NoDirectory() implements DirectoryState {
    }

    /** A directory with a pipe, a socket or a device, which may have no end and block its readers. */
    record Blocked(Path entry) implements DirectoryState {
    }

    /** A directory with files that are of no run. */
    record Foreign() implements DirectoryState {
    }

    /** A run that is not over. */
    record Live() implements DirectoryState {
    }

    /** A run that has ended without a checkpoint. */
    record WithoutCheckpoint() implements DirectoryState {
    }

    /** A run that has reached its last step. */
    record Finished(long steps) implements DirectoryState {
    }

    record Resumable(long stepsDone) implements DirectoryState {
    }

    String METRICS = "metrics.jsonl";
    String STEP = "{\"step\":";

    /** Returns the state of a directory, or of a file with its name. */
    static DirectoryState of(Path path) {
        if (RunDirectory.isFree(path)) {
            return new Free();
        }
        if (Files.exists(path) && !Files.isDirectory(path)) {
            return new NoDirectory();
        }
        Optional<Path> blocking = blocking(path);
        if (blocking.isPresent()) {
            return new Blocked(blocking.get());
        }
        return RunLock.isTaken(path) ? new Live() : ofFiles(path);
    }

    /** Returns the state that a directory had before a run of this process locked it. */
    static DirectoryState underLock(Path path) {
        return RunDirectory.holdsOnly(path, Set.of(RunDirectory.LOGS, RunLock.FILE, RunDirectory.KEY))
                ? new Free()
                : ofFiles(path);
    }

    private static Optional<Path> blocking(Path path) {
        try (Stream<Path> entries = Files.list(path)) {
            return entries.filter(entry -> Files.exists(entry) && !Files.isRegularFile(entry)
                    && !Files.isDirectory(entry)).findFirst();
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static DirectoryState ofFiles(Path path) {
        OptionalLong newest = Checkpoint.newestSteps(path);
        // A free lock file was left by a killed process. An experiment of chaos or compare has only a configuration.
        boolean isRun = newest.isPresent() || Files.exists(path.resolve(METRICS))
                || Files.exists(path.resolve(RunLock.FILE));
        if (!isRun) {
            return new Foreign();
        }
        OptionalLong asked = stepsAsked(path);
        long done = Math.max(newest.orElse(0), stepsWritten(path));
        if (asked.isPresent() && done >= asked.getAsLong() && done > 0) {
            return new Finished(done);
        }
        return newest.isPresent() ? new Resumable(newest.getAsLong()) : new WithoutCheckpoint();
    }

    /** Returns why a run cannot begin in the directory; empty if it can. */
    default Optional<String> whyNotBegin(Path path) {
        String inUse = "the output directory " + path + " is in use: ";
        return switch (this) {
            case Free _,WithoutCheckpoint _ -> Optional.empty();
            case NoDirectory _ -> Optional.of("the output directory " + path + " must be a directory or not there yet,"
                    + " but it is a file; choose another with --out");
            case Blocked(Path entry) -> Optional.of(blockedBy(entry));
            case Foreign _ ->
                Optional.of(inUse + "it holds files that are of no run; it must be empty or not there yet:"
                        + " choose another with --out");
            case Live _ -> Optional.of(
                    inUse + "another run writes to it; wait for its end, or choose another with --out");
            case Finished(long steps) -> Optional.of(inUse + "it holds a run that is done after " + steps
                    + " steps; choose another with --out");
            case Resumable(long steps) -> Optional.of(inUse + "it holds a run with a checkpoint after " + steps
                    + " steps; resume it with --resume " + path + ", or choose another with --out");
        };
    }

    /** Returns why a run cannot resume in the directory; empty if it can, or if opening its checkpoint explains more. */
    default Optional<String> whyNotResume(Path path) {
        return switch (this) {
            case Free _,NoDirectory _,Foreign _,Finished _,Resumable _ -> Optional.empty();
            case Blocked(Path entry) -> Optional.of(blockedBy(entry));
            case Live _ -> Checkpoint.newestSteps(path).isPresent()
                    ? Optional.empty() // a node that rejoins the run
                    : Optional.of(path + " has no checkpoint yet, and its run is in progress: wait for its end");
            case WithoutCheckpoint _ ->
                Optional.of(path + " holds a run that ended before its first checkpoint, so there"
                        + " is nothing to resume: begin it again with --out " + path);
        };
    }

    private static String blockedBy(Path entry) {
        return entry
                + " must be a file, but it is a pipe or a device: remove it, or choose another directory with --out";
    }

    private static long stepsWritten(Path path) {
        try (Stream<String> lines = Files.lines(path.resolve(METRICS), StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.startsWith(STEP)).count();
        } catch (IOException | UncheckedIOException _) {
            return 0; // there is no metrics file
        }
    }

    private static OptionalLong stepsAsked(Path path) {
        try {
            Config config = ConfigFactory.parseFile(path.resolve(RunDirectory.CONFIG).toFile());
            return OptionalLong.of(config.getLong("troupe.training.steps"));
        } catch (ConfigException _) {
            return OptionalLong.empty(); // the run ended before it wrote its configuration
        }
    }
}
