package dev.troupe;

import dev.troupe.prepare.UserErrors;

/** Turns the exceptions for wrong requests into the one that the library throws. */
final class Refusals {
    private Refusals() {
    }

    /** A part of a request that is answered or refused. */
    @FunctionalInterface
    interface Request<T, E extends Exception> {
        T answer() throws E;
    }

    /**
     * Returns the answer.
     *
     * @throws RequestException
     *             where the request is wrong
     */
    static <T, E extends Exception> T translate(Request<T, E> request) throws E {
        try {
            return request.answer();
        } catch (RuntimeException failure) {
            throw UserErrors.sentenceOf(failure).<RuntimeException>map(said -> new RequestException(said, failure))
                    .orElse(failure);
        }
    }
}
