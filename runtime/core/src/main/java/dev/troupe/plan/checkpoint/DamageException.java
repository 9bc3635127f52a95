package dev.troupe.plan.checkpoint;

import java.io.IOException;
import java.nio.file.Path;

/** A checkpoint that is incomplete or damaged; another one may be whole. */
final class DamageException extends CheckpointException {
    private static final long serialVersionUID = 1L;

    private final String what;

    private DamageException(String what, Throwable cause) {
        super(what + ": resume from another checkpoint", cause);
        this.what = what;
    }

    static DamageException damaged(Path file, String why, Throwable cause) {
        return new DamageException(file + " is damaged (" + why + ")", cause);
    }

    static DamageException missing(Path file) {
        return new DamageException(file + " is missing", null);
    }

    static DamageException unreadable(Path file, IOException failure) {
        return new DamageException("cannot read " + file + " (" + failure + ")", failure);
    }

    static DamageException unfinished(Path directory) {
        return new DamageException(directory + " was not written to its end", null);
    }

    /** Returns the file and its damage, without advice. */
    String what() {
        return what;
    }
}
