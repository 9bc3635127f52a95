package dev.troupe.plan.checkpoint;

import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The retention of a run's checkpoints. It deletes only files of checkpoints in the run's own folder. Other names and files
 * remain, and so do checkpoints with more steps than the newest.
 */
final class Retention {
    private static final Logger LOG = LoggerFactory.getLogger(Retention.class);

    private Retention() {
    }

    /**
     * Deletes older checkpoints, and incomplete ones from before the newest. If a file cannot be deleted, this is logged,
     * and the new checkpoint is still valid.
     *
     * @param stepsDone steps of the newest, which was just committed
     * @param kept number of checkpoints to keep, with the newest; 0: all
     */
    static void deleteOlder(CheckpointFolder folder, long stepsDone, int kept) {
        try {
            List<CheckpointFolder.Entry> older = folder.newestFirst().stream()
                    .filter(entry -> entry.stepsDone() < stepsDone).toList();
            int whole = 1;
            for (CheckpointFolder.Entry entry : older) {
                boolean isToGo = entry.isPartial() || kept > 0 && whole >= kept;
                if (!isToGo && looksWhole(entry)) { // a damaged one does not count
                    whole++;
                } else if (isToGo && CheckpointFolder.holdsNothingElse(entry.directory())) {
                    CheckpointFolder.delete(entry.directory());
                }
            }
        } catch (IOException failure) {
            LOG.warn("an old checkpoint in {} could not be deleted: {}", folder.path(), FileReason.of(failure));
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
