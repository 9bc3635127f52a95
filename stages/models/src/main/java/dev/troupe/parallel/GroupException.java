package dev.troupe.parallel;

/**
 * A collective that did not come to its end: a member is dead, the deadline passed, or the group's epoch did. The message
 * is one sentence that names the group's operation and the member or the deadline. The stage that gets it can compute
 * nothing more in this epoch.
 */
public class GroupException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public GroupException(String message) {
        super(message);
    }

    public GroupException(String message, Throwable cause) {
        super(message, cause);
    }
}
