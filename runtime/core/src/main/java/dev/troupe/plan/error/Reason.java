package dev.troupe.plan.error;

import dev.troupe.collective.CollectiveException;
import dev.troupe.protocol.Strike;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

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
        Throwable root = chain(failure).getLast();
        return InjectedFault.isInjected(root) || root instanceof CollectiveException
                ? Optional.empty()
                : Optional.of(new Strike(where, words(root)));
    }

    /** Returns the original error of an actor's failure, or the failure itself. */
    public static Throwable met(Throwable failure) {
        for (Throwable each : chain(failure)) {
            if (each instanceof ActorError contained) {
                return contained.getCause();
            }
        }
        return failure;
    }

    /** Returns an error and its causes, the root last; errors of a program may be each other's causes. */
    private static List<Throwable> chain(Throwable failure) {
        List<Throwable> chain = new ArrayList<>();
        Set<Throwable> found = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Throwable each = failure; each != null && found.add(each); each = each.getCause()) {
            chain.add(each);
        }
        return chain;
    }

    /** Returns a sentence that was written for the user unchanged, and any other error with its kind and its cause. */
    public static String of(Throwable failure) {
        return sentence(chain(met(failure)));
    }

    private static String sentence(List<Throwable> chain) {
        Throwable failure = chain.getFirst();
        if (failure instanceof RuntimeException refused && UserErrors.sentenceOf(refused).isPresent()) {
            return UserErrors.sentenceOf(refused).get();
        }
        String words = words(failure);
        boolean addsCause = chain.size() > 1 && !words.contains(message(chain.get(1)).orElse(""));
        return addsCause ? words + " (" + sentence(chain.subList(1, chain.size())) + ")" : words;
    }

    private static String words(Throwable failure) {
        String kind = failure.getClass().getSimpleName();
        return message(failure).map(message -> kind + ": " + message).orElse(kind);
    }

    /** Returns the message of an error; empty if it has none, or if the program's code that makes it fails. */
    private static Optional<String> message(Throwable failure) {
        try {
            return Optional.ofNullable(failure.getMessage());
        } catch (RuntimeException unmade) {
            return Optional.empty();
        }
    }
}
