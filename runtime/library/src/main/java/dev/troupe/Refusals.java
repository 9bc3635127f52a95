package dev.troupe;

import dev.troupe.plan.error.UserErrors;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The translation of exceptions for wrong requests into {@link RequestException}. */
final class Refusals {
    /** An option, with the path after it if one is given. */
    private static final Pattern OPTION = Pattern.compile("--(out|resume)(?: (/[^\\s,;:]*[^\\s,;:.]))?");

    private Refusals() {
    }

    /** A part of a request that is answered or refused. */
    @FunctionalInterface
    interface Request<T, E extends Exception> {
        T answer() throws E;
    }

    /**
     * Returns the answer of a request.
     *
     * @throws RequestException if the request is wrong
     */
    static <T, E extends Exception> T translate(Request<T, E> request) throws E {
        try {
            return request.answer();
        } catch (RuntimeException failure) {
            throw UserErrors.sentenceOf(failure)
                    .<RuntimeException>map(said -> new RequestException(ofLibrary(said), failure)).orElse(failure);
        }
    }

    /** Returns a sentence with the library's names in place of the command's options. */
    static String ofLibrary(String sentence) {
        Matcher found = OPTION.matcher(sentence.replace(" to resume from: name", ": name"));
        return found.replaceAll(option -> Matcher.quoteReplacement((option.group(1).equals("out") ? "output" : "resume")
                + "(" + Optional.ofNullable(option.group(2)).orElse("directory") + ")"));
    }
}
