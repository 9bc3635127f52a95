package dev.troupe.plan.error;

import dev.troupe.collective.CollectiveException;
import dev.troupe.protocol.Strike;
import java.util.Objects;
import java.util.Optional;

/** The sentence for the user on a throwable. */
public final class Reason {
    private Reason() {
    }

    /**
     * Returns the root error of a failure, which may strike again at the same action. Empty if another attempt may
     * succeed: for an injected fault, and for an error that follows from the failure of another rank.
     *
     * @param where the action, with its stage, microbatch and step, or the part of the step's tail
     */
    public static Optional<Strike> strike(String where, Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return InjectedFault.isInjected(root) || root instanceof CollectiveException
                ? Optional.empty()
                : Optional.of(new Strike(where, words(root)));
    }

    /** Returns the error that code of ours or of a program threw: an actor's failure by an error is that error. */
    public static Throwable met(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof ActorError contained) {
                return contained.getCause();
            }
        }
        return failure;
    }

    /** Returns a sentence that was written for the user unchanged, and any other error with its kind and its cause. */
    public static String of(Throwable failure) {
        if (met(failure) != failure) {
            return of(met(failure));
        }
        if (failure instanceof RuntimeException refused && UserErrors.sentenceOf(refused).isPresent()) {
            return UserErrors.sentenceOf(refused).get();
        }
        String words = words(failure);
        Throwable cause = failure.getCause();
        boolean saysMore = cause != null && !words.contains(Objects.requireNonNullElse(cause.getMessage(), ""));
        return saysMore ? words + " (" + of(cause) + ")" : words;
    }

    private static String words(Throwable failure) {
        return failure.getMessage() == null
                ? failure.getClass().getSimpleName()
                : failure.getClass().getSimpleName() + ": " + failure.getMessage();
    }
}
