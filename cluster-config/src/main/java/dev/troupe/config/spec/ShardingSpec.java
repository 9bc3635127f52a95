package dev.troupe.config.spec;

import dev.troupe.config.value.Values;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * The division of a stage among the ranks of its tensor-parallel group.
 *
 * @param sequence whether the rows of the residual stream are divided too
 * @param plan the text of a sharding plan; empty for the division of every layer
 */
public record ShardingSpec(boolean sequence, String plan) {
    private static final String KEY = "parallel.sharding";
    private static final String EXPECTED = "a sharding plan, its file, or \"\" for none";
    private static final String ADVICE = "name a file, or write rules such as \"heads, inner, vocabulary -> tensor\"";
    private static final Pattern ANY = Pattern.compile("(?s).*");
    /** Marks of a plan, which no usual name of a file has. */
    private static final Pattern PLAN = Pattern.compile("(?s).*(?:->|[{\\n]).*");
    private static final long MOST_BYTES = 1 << 24;

    static ShardingSpec read(Values values) {
        String text = values.text(KEY, ANY, EXPECTED);
        boolean sequence = values.flag("parallel.sequence");
        if (text.isBlank() || PLAN.matcher(text).matches()) {
            return new ShardingSpec(sequence, text.isBlank() ? "" : text);
        }
        return new ShardingSpec(sequence, ofFile(values, Path.of(text)));
    }

    /** Returns the text of a file, which becomes the value of the key: other processes need not have the file. */
    private static String ofFile(Values values, Path file) {
        try {
            if (Files.size(file) <= MOST_BYTES) {
                String plan = Files.readString(file, StandardCharsets.UTF_8);
                if (plan.isBlank()) {
                    values.report(KEY, EXPECTED, file + ", which is empty", ADVICE);
                }
                values.settle(KEY, plan);
                return plan;
            }
            values.report(KEY, "a file of at most " + MOST_BYTES + " bytes",
                    file + " of " + Files.size(file) + " bytes",
                    "name the file of a plan");
        } catch (IOException _) {
            values.report(KEY, EXPECTED,
                    file + (Files.exists(file) ? ", which cannot be read as text" : ", which does not exist"),
                    ADVICE);
        }
        return "";
    }

    /** Returns whether a plan is given. */
    public boolean isPlanned() {
        return !plan.isEmpty();
    }
}
