package dev.troupe.cli.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/**
 * The destination of standard output, with its width and colours.
 *
 * @param isTerminal whether it is a terminal, and not a file or another program's input
 * @param columns its width; empty: unlimited
 * @param colours whether it shows colours and the user has not disabled them (no-color.org)
 */
public record Terminal(boolean isTerminal, OptionalInt columns, boolean colours) {
    /** The width for a file, and for a terminal of unknown width. */
    private static final int USUAL_COLUMNS = 80;
    /** The least width at which folding makes a table easier to read. */
    private static final int LEAST_COLUMNS = 40;
    private static final long PATIENCE_SECONDS = 2;
    private static final String RESET = "\u001b[0m";

    /** A file. */
    public static final Terminal NONE = new Terminal(false, OptionalInt.empty(), false);

    /** Returns the standard output of this process; COLUMNS, if it is set, counts also for a file. */
    public static Terminal ofOutput() {
        return of(System.console() != null && System.console().isTerminal(), System.getenv());
    }

    static Terminal of(boolean isTerminal, Map<String, String> environment) {
        OptionalInt columns = number(environment.getOrDefault("COLUMNS", ""));
        if (columns.isEmpty() && isTerminal) {
            columns = OptionalInt.of(askedColumns().orElse(USUAL_COLUMNS));
        }
        boolean colours = isTerminal && environment.getOrDefault("NO_COLOR", "").isEmpty()
                && !environment.getOrDefault("TERM", "dumb").equals("dumb");
        return new Terminal(isTerminal, columns, colours);
    }

    /** Returns the width for lines that a program may read too: no limit, unless the terminal is known to be narrow. */
    public int lineColumns() {
        return columns.orElse(Integer.MAX_VALUE);
    }

    /** Returns the width for a table, at least one that can be read; empty: unlimited. */
    public OptionalInt tableColumns() {
        return columns.isPresent() ? OptionalInt.of(Math.max(LEAST_COLUMNS, columns.getAsInt())) : columns;
    }

    /** Returns the width to fill with text for a person. */
    public int textColumns() {
        return tableColumns().orElse(USUAL_COLUMNS);
    }

    public String bold(String text) {
        return colours ? "\u001b[1m" + text + RESET : text;
    }

    public String green(String text) {
        return colours ? "\u001b[32m" + text + RESET : text;
    }

    public String red(String text) {
        return colours ? "\u001b[31m" + text + RESET : text;
    }

    /** Asks {@code stty}, which every system with terminals has; it reads the size from its standard input. */
    private static OptionalInt askedColumns() {
        try {
            Process stty = new ProcessBuilder(List.of("stty", "size"))
                    .redirectInput(Path.of("/dev/tty").toFile()).redirectError(ProcessBuilder.Redirect.DISCARD).start();
            String[] size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip()
                    .split(" ");
            return stty.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) && size.length == 2
                    ? number(size[1])
                    : OptionalInt.empty();
        } catch (IOException _) {
            return OptionalInt.empty(); // no such program, or no terminal that is ours
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return OptionalInt.empty();
        }
    }

    private static OptionalInt number(String text) {
        return text.matches("[1-9][0-9]{0,3}")
                ? OptionalInt.of(Integer.parseInt(text))
                : OptionalInt.empty();
    }
}
