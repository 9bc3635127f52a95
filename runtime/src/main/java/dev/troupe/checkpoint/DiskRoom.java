package dev.troupe.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Whether the file system of a run's directory has room for what the run will leave there: a run that finds this out at its
 * end has lost its work.
 *
 * @param checkpointBytes
 *            of one checkpoint
 * @param modelBytes
 *            of the exported model
 */
public record DiskRoom(long checkpointBytes, long modelBytes) {
    /**
     * Checks it, before anything is written.
     *
     * @param output
     *            the run's directory, which need not be there yet
     * @param kept
     *            {@code training.keep-checkpoints}; 0 for all
     * @param present
     *            how many of them are there already
     * @param isPeriodic
     *            whether the run writes checkpoints after a number of steps; how many it writes by time nobody knows
     * @throws CheckpointException
     *             with the numbers and the key to change
     */
    public void require(Path output, int kept, int present, boolean isPeriodic) {
        require(output, kept, present, isPeriodic, Disk.REAL);
    }

    void require(Path output, int kept, int present, boolean isPeriodic, Disk disk) {
        Path directory = output.toAbsolutePath();
        while (!Files.exists(directory)) {
            directory = directory.getParent();
        }
        long free;
        try {
            free = disk.freeBytes(directory);
        } catch (IOException failure) {
            throw new CheckpointException("cannot tell what room there is in " + directory + ": " + failure, failure);
        }
        // A checkpoint is whole before the oldest is deleted. Where all are kept nobody knows for how long: the user may
        // move them away, so only the last counts.
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
