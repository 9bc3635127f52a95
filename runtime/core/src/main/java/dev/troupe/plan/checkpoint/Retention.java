package dev.troupe.plan.checkpoint;

import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The retention of a run's checkpoints. Only files of checkpoints in the run's own folder are ever deleted: other names
 * and files remain, and so do checkpoints with more steps than the newest.
 */
final class Retention {
    private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

    private Retention() {
    }

    /**
     * Deletes checkpoints older than those to keep, and incomplete ones that were begun before the newest. A file that
     * cannot be deleted is logged, and the checkpoint is valid all the same.
     *
     * @param stepsDone steps of the newest, which was just committed
     * @param kept number of checkpoints to keep, with the newest; 0 for all
     */
    static void deleteOlder(CheckpointFolder folder, long stepsDone, int kept) {
        try {
            List<CheckpointFolder.Entry> older = folder.newestFirst().stream()
                    .filter(entry -> entry.stepsDone() < stepsDone).toList();
            int standing = 1;
            for (CheckpointFolder.Entry entry : older) {
                boolean isToGo = entry.isPartial() || kept > 0 && standing >= kept;
                if (!isToGo && looksWhole(entry)) { // a damaged one does not count
                    standing++;
                } else if (isToGo && CheckpointFolder.holdsNothingElse(entry.directory())) {
                    CheckpointFolder.delete(entry.directory());
                }
            }
        } catch (IOException failure) {
            LOG.warn("an old checkpoint in {} could not be deleted: {}", folder.path(), failure.toString());
        }
    }

    /** Returns whether the sizes of a checkpoint's files are right; reading all files would take as long as writing one. */
    private static boolean looksWhole(CheckpointFolder.Entry entry) {
        try {
            Manifest.read(entry.directory()).parts().forEach(part -> PartFile.requireThere(entry.directory(), part));
            return true;
        } catch (CheckpointException _) {
            return false;
        }
    }
}
