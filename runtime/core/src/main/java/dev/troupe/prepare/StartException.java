package dev.troupe.prepare;

import java.lang.management.ManagementFactory;
import java.util.Locale;

/**
 * The actors of this process did not start, though the request was right; another attempt may succeed. The message is one
 * sentence for the user.
 */
public final class StartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private StartException(String message, Throwable cause) {
        super(message, cause);
    }

    /**
     * Returns what to throw where a start of actors failed: an exception that has a sentence for the user unchanged, any
     * other with a sentence. Scala throws checked exceptions past the Java compiler, so a caller has to catch Exception.
     *
     * @param who
     *            whose actors they are, such as "node b"
     */
    public static RuntimeException of(String who, Throwable failure) {
        switch (failure) {
            case Error error -> throw error;
            case RuntimeException refused when UserErrors.sentenceOf(refused).isPresent() -> {
                return refused;
            }
            case InterruptedException _ -> Thread.currentThread().interrupt();
            default -> {
            }
        }
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        return new StartException(String.format(Locale.ROOT,
                "the actors of %s did not start: %s; the machine has a load of %.0f on %d cores, so where it is"
                        + " overloaded, start again when it is less busy",
                who, Reason.of(failure), load, Runtime.getRuntime().availableProcessors()), failure);
    }
}
