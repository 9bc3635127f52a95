package dev.troupe.prepare;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import dev.troupe.checkpoint.Checkpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** What a directory holds that a run is to begin in, or to go on in. Looks, and writes nothing. */
sealed interface DirectoryState {
    /** Nothing but logs, or it is not there yet. */
    record Free() implements DirectoryState {
    }

    /** Something that no run has left. */
    record Foreign() implements DirectoryState {
    }

    /** A run that is under way. */
    record Live() implements DirectoryState {
    }

    /** A run that has ended with no checkpoint. */
    record WithoutCheckpoint() implements DirectoryState {
    }

    /** A run that has reached its last step. */
    record Finished(long steps) implements DirectoryState {
    }

    /** A run that can go on. */
    record Resumable(long stepsDone) implements DirectoryState {
    }

    String METRICS = "metrics.jsonl";
    String STEP = "{\"step\":";

    /** Of a directory, or of a file where one is in the way. */
    static DirectoryState of(Path path) {
        if (RunDirectory.isFree(path)) {
            return new Free();
        }
        if (RunDirectory.isLocked(path)) {
            return new Live();
        }
        OptionalLong newest = Checkpoint.newestSteps(path);
        // A lock that nobody holds is a killed process's. An experiment of chaos or compare has a configuration alone.
        boolean isRun = newest.isPresent() || Files.exists(path.resolve(METRICS))
                || Files.exists(path.resolve(RunDirectory.LOCK));
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

    /** Why a run cannot begin there; empty where it can. */
    default Optional<String> whyNotBegin(Path path) {
        String inUse = "the output directory " + path + " is in use: ";
        return switch (this) {
            case Free _,WithoutCheckpoint _ -> Optional.empty();
            case Foreign _ ->
                Optional.of(inUse + "it holds files that are of no run; it must be empty or not there yet:"
                        + " choose another with --out");
            case Live _ -> Optional.of(
                    inUse + "another run writes to it; wait for its end, or choose another with --out");
            case Finished(long steps) -> Optional.of(inUse + "it holds a run that is done after " + steps
                    + " steps; choose another with --out");
            case Resumable(long steps) -> Optional.of(inUse + "it holds a run with a checkpoint after " + steps
                    + " steps; go on with it with --resume " + path + ", or choose another with --out");
        };
    }

    /** Why a run cannot go on there; empty where it can, or where whoever opens its checkpoint says more. */
    default Optional<String> whyNotResume(Path path) {
        return switch (this) {
            case Free _,Foreign _,Finished _,Resumable _ -> Optional.empty();
            case Live _ -> Checkpoint.newestSteps(path).isPresent()
                    ? Optional.empty() // a node that comes back to it
                    : Optional.of(path + " has no checkpoint yet, and its run is under way: wait for its end");
            case WithoutCheckpoint _ ->
                Optional.of(path + " holds a run that ended before its first checkpoint, so there"
                        + " is nothing to go on from: begin it again with --out " + path);
        };
    }

    private static long stepsWritten(Path path) {
        try (Stream<String> lines = Files.lines(path.resolve(METRICS))) {
            return lines.filter(line -> line.startsWith(STEP)).count();
        } catch (IOException | UncheckedIOException _) {
            return 0; // there are none
        }
    }

    private static OptionalLong stepsAsked(Path path) {
        try {
            Config config = ConfigFactory.parseFile(path.resolve(RunDirectory.CONFIG).toFile());
            return OptionalLong.of(config.getLong("troupe.training.steps"));
        } catch (ConfigException _) {
            return OptionalLong.empty(); // it ended before it was written
        }
    }
}
