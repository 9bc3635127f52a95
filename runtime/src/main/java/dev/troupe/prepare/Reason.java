package dev.troupe.prepare;

import dev.troupe.collective.CollectiveException;
import dev.troupe.fault.FaultInjector;
import dev.troupe.machine.Strike;
import java.util.Objects;
import java.util.Optional;

/** A throwable as words for the user. */
public final class Reason {
    private Reason() {
    }

    /**
     * The error at the root of a failure, as one that may strike again. Empty where another attempt is a new one: of a
     * fault on purpose, which the list of faults repeats, and of what follows where another rank failed.
     *
     * @param where
     *            the action, with its stage, microbatch and step, or the part of the step's tail
     */
    public static Optional<Strike> strike(String where, Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return FaultInjector.isInjected(root) || root instanceof CollectiveException
                ? Optional.empty()
                : Optional.of(new Strike(where, words(root)));
    }

    /** A sentence that was written for the user as it is; anything else with its kind and what caused it. */
    public static String of(Throwable failure) {
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
