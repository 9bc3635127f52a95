package dev.troupe.cli.launch;

import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The reason that a child process printed for its end: a sentence for the user, or at least an exception. Any thread; one
 * thread reads the lines.
 */
final class LastWords implements Consumer<String> {
    static final String COMPLAINT = "troupe: ";
    /** The first line of a stack trace. */
    private static final Pattern EXCEPTION = Pattern
            .compile("(?:Exception in thread \"[^\"]*\" )?((?:[a-z]\\w*\\.)+[A-Z][\\w$]*(?:Exception|Error)\\b.*)");

    private final Consumer<String> onComplaint;
    private volatile String complaint;
    private volatile String exception;

    /**
     * @param onComplaint receives each sentence for the user, with its prefix
     */
    LastWords(Consumer<String> onComplaint) {
        this.onComplaint = onComplaint;
    }

    @Override
    public void accept(String line) {
        Matcher trace = EXCEPTION.matcher(line);
        if (line.startsWith(COMPLAINT)) {
            complaint = line.substring(COMPLAINT.length());
            onComplaint.accept(line);
        } else if (trace.matches()) {
            exception = trace.group(1);
        }
    }

    Optional<String> complaint() {
        return Optional.ofNullable(complaint);
    }

    /** Returns the end of a process in words, with the exception that it printed if it had no sentence. */
    String with(String howItEnded) {
        return complaint == null && exception != null ? howItEnded + " (" + exception + ")" : howItEnded;
    }
}
