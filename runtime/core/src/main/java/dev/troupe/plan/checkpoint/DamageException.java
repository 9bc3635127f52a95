package dev.troupe.plan.checkpoint;

import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.nio.file.Path;

/** A checkpoint that is incomplete or damaged; another one may be whole. */
final class DamageException extends CheckpointException {
    private static final long serialVersionUID = 1L;

    private static final int LONGEST_REASON = 300;

    private final String what;

    private DamageException(String what, Throwable cause) {
        super(what + ": resume from another checkpoint", cause);
        this.what = what;
    }

    static DamageException damaged(Path file, String why, Throwable cause) {
        String shown = why.length() > LONGEST_REASON ? why.substring(0, LONGEST_REASON) + "..." : why; // it may quote the file
        return new DamageException(file + " is damaged (" + shown.replaceAll("\\p{Cntrl}", "?") + ")", cause);
    }

    static DamageException missing(Path file) {
        return new DamageException(file + " is missing", null);
    }

    static DamageException unreadable(Path file, IOException failure) {
        return new DamageException("cannot read " + file + " (" + FileReason.of(failure) + ")", failure);
    }

    static DamageException unfinished(Path directory) {
        return new DamageException(directory + " was not written to its end", null);
    }

    /** Returns the file and its damage, without advice. */
    String what() {
        return what;
    }
}
