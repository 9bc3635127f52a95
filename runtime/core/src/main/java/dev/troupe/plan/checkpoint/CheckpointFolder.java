package dev.troupe.plan.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The folder {@code checkpoints} of a run, and the names of its content.
 *
 * @param path the folder; it may not exist
 */
record CheckpointFolder(Path path) {
    static final String NAME = "checkpoints";
    /** The end of the name of a checkpoint that is being written, or is incomplete. */
    private static final String PARTIAL = ".partial";
    private static final Pattern ENTRY = Pattern.compile("step-(\\d{6,18})(" + Pattern.quote(PARTIAL) + ")?");
    private static final Pattern FILE = Pattern
            .compile("manifest\\.json|\\.?rank-\\d{3,}(\\.[0-9a-f-]{36})?\\.safetensors(\\.\\d+\\.tmp)?");

    /** A directory with the name of a checkpoint, whole or not. */
    record Entry(Path directory, long stepsDone, boolean isPartial) {
    }

    static CheckpointFolder of(Path runDirectory) {
        return new CheckpointFolder(runDirectory.resolve(NAME));
    }

    /** Returns the entry of a directory by its name; its steps are negative if that is not the name of a checkpoint. */
    static Entry entry(Path directory) {
        Matcher name = ENTRY.matcher(directory.getFileName() == null ? "" : directory.getFileName().toString());
        return name.matches()
                ? new Entry(directory, Long.parseLong(name.group(1)), name.group(2) != null)
                : new Entry(directory, -1, false);
    }

    Path whole(long stepsDone) {
        return path.resolve(String.format(Locale.ROOT, "step-%06d", stepsDone));
    }

    /** Returns the directory in which that checkpoint is written. */
    Path partial(long stepsDone) {
        Path whole = whole(stepsDone);
        return whole.resolveSibling(whole.getFileName() + PARTIAL);
    }

    /** Returns all directories with the name of a checkpoint, most steps first, partial ones after whole ones. */
    List<Entry> newestFirst() throws IOException {
        if (!Files.isDirectory(path)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(path)) {
            return all.filter(Files::isDirectory).map(CheckpointFolder::entry).filter(entry -> entry.stepsDone() >= 0)
                    .sorted(Comparator.comparingLong(Entry::stepsDone).reversed().thenComparing(Entry::isPartial))
                    .toList();
        }
    }

    /** Returns whether a directory has only files that a run writes there. */
    static boolean holdsNothingElse(Path directory) throws IOException {
        return files(directory).stream().allMatch(file -> FILE.matcher(file.getFileName().toString()).matches());
    }

    /** Deletes a checkpoint, the manifest first, so that the remaining files are never taken for a whole one. */
    static void delete(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve(Manifest.FILE));
        for (Path file : files(directory)) {
            Files.deleteIfExists(file);
        }
        Files.delete(directory);
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.toList();
        }
    }
}
