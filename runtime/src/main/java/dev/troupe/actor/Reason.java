package dev.troupe.actor;

import dev.troupe.run.Refusals;
import java.util.Objects;

/** A throwable as words for the user. */
final class Reason {
    private Reason() {
    }

    /** A sentence that was written for the user as it is; anything else with its kind and what caused it. */
    static String of(Throwable failure) {
        if (failure instanceof RuntimeException refused && Refusals.sentenceOf(refused).isPresent()) {
            return Refusals.sentenceOf(refused).get();
        }
        String words = failure.getMessage() == null
                ? failure.getClass().getSimpleName()
                : failure.getClass().getSimpleName() + ": " + failure.getMessage();
        Throwable cause = failure.getCause();
        boolean saysMore = cause != null && !words.contains(Objects.requireNonNullElse(cause.getMessage(), ""));
        return saysMore ? words + " (" + of(cause) + ")" : words;
    }
}
