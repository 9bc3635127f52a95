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
     * Returns the root error of a failure, which may strike again at the same action. It is empty if another attempt may
     * succeed: after an injected fault, or if the failure of another rank caused the error.
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

    /** Returns the original error of an actor's failure, or the failure itself. */
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
        boolean addsCause = cause != null && !words.contains(Objects.requireNonNullElse(cause.getMessage(), ""));
        return addsCause ? words + " (" + of(cause) + ")" : words;
    }

    private static String words(Throwable failure) {
        return failure.getMessage() == null
                ? failure.getClass().getSimpleName()
                : failure.getClass().getSimpleName() + ": " + failure.getMessage();
    }
}
