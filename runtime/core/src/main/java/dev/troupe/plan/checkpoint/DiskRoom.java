package dev.troupe.plan.checkpoint;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * The check of a file system's room for a run's checkpoints and model: a run without room at its end loses its work.
 *
 * @param modelBytes bytes of the exported model
 */
public record DiskRoom(long checkpointBytes, long modelBytes) {
    /**
     * Checks the room, before any file is written.
     *
     * @param output the run's directory; it may not exist yet
     * @param kept {@code training.keep-checkpoints}; 0: all
     * @param present number of checkpoints that exist already
     * @param isPeriodic whether the run writes checkpoints after a number of steps; the number of those written by time is
     *     not known
     * @throws CheckpointException with the numbers and the key to change
     */
    public void require(Path output, int kept, int present, boolean isPeriodic) {
        require(output, kept, present, isPeriodic, Disk.REAL);
    }

    /**
     * Checks the room for a model, before any of its files is written.
     *
     * @param output the directory of the model; it may not exist yet
     * @throws CheckpointException with the numbers and the remedy
     */
    public static void requireForModel(Path output, long bytes) {
        requireForModel(output, bytes, Disk.REAL);
    }

    static void requireForModel(Path output, long bytes, Disk disk) {
        long free = freeBytes(output, disk);
        if (free - CheckpointStore.OVERHEAD_BYTES < bytes) {
            throw new CheckpointException(String.format(Locale.ROOT,
                    "the model has %,d bytes, but the file system of %s has %,d left: free some, choose another with --out,"
                            + " or take a smaller type of weights",
                    bytes, output, free));
        }
    }

    private static long freeBytes(Path output, Disk disk) {
        Path directory = output.toAbsolutePath();
        while (!Files.exists(directory)) {
            directory = directory.getParent();
        }
        return disk.freeBytes(directory);
    }

    void require(Path output, int kept, int present, boolean isPeriodic, Disk disk) {
        long free = freeBytes(output, disk);
        // A checkpoint is complete before the oldest is deleted. If all checkpoints are kept the user may move them away, so
        // only the last one counts.
        long most = free - CheckpointStore.OVERHEAD_BYTES;
        long least = checkpointBytes + modelBytes;
        if (most < least) {
            throw new CheckpointException(String.format(Locale.ROOT,
                    "the run would end with a checkpoint of %,d bytes and a model of %,d, but the file system of %s has"
                            + " %,d left: free some, choose another with --out, or take a smaller model (model.hidden,"
                            + " model.layers)",
                    checkpointBytes, modelBytes, output, free));
        }
        int count = isPeriodic && kept > 0 ? Math.max(1, kept + 1 - present) : 1;
        long fitting = most / checkpointBytes; // rounded down
        if (count > fitting) {
            int lower = (int) fitting + present - 1;
            throw new CheckpointException(String.format(Locale.ROOT,
                    "the run would keep %d checkpoints of %,d bytes and write one more before it deletes the oldest, but the"
                            + " file system of %s has %,d left: free some, choose another with --out, or %s",
                    kept, checkpointBytes, output, free,
                    lower > 0
                            ? "set training.keep-checkpoints = " + lower
                            : "write none on the way (training.checkpoint-every = 0)"));
        }
    }
}
