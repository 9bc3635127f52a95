package dev.troupe.checkpoint;

import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which checkpoints of a run stay. Only what a run itself writes is ever deleted, in its own folder: names and files that no
 * checkpoint has are left alone, and so is everything with more steps than the newest.
 */
final class Retention {
    private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

    private Retention() {
    }

    /**
     * Deletes what is older than the newest, and what was begun before it and never ended. That something cannot be deleted
     * is logged: the checkpoint stands all the same.
     *
     * @param stepsDone
     *            of the newest, which was just committed
     * @param kept
     *            how many are to stay with it; 0 for all
     */
    static void deleteOlder(CheckpointFolder folder, long stepsDone, int kept) {
        try {
            List<CheckpointFolder.Entry> older = folder.newestFirst().stream()
                    .filter(entry -> entry.stepsDone() < stepsDone).toList();
            int standing = 1;
            for (CheckpointFolder.Entry entry : older) {
                boolean isToGo = entry.isPartial() || kept > 0 && standing >= kept;
                if (!isToGo && looksWhole(entry)) { // one that is of no use stands for none
                    standing++;
                } else if (isToGo && CheckpointFolder.holdsNothingElse(entry.directory())) {
                    CheckpointFolder.delete(entry.directory());
                }
            }
        } catch (IOException failure) {
            LOG.warn("an old checkpoint in {} could not be deleted: {}", folder.path(), failure.toString());
        }
    }

    /** By sizes, since to read them all again each time would cost as much as to write one. */
    private static boolean looksWhole(CheckpointFolder.Entry entry) {
        try {
            Manifest.read(entry.directory()).parts().forEach(part -> PartFile.requireThere(entry.directory(), part));
            return true;
        } catch (CheckpointException _) {
            return false;
        }
    }
}
