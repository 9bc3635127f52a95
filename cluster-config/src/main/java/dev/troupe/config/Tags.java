package dev.troupe.config;

import com.typesafe.config.ConfigValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The comment of a key or a section in the defaults: its sentences, and its tags, which are lines of their own. A tag of a
 * section holds for each of its keys.
 *
 * @param only other keys with the values under which the key has an effect: {@code @only KEY = VALUE, VALUE}
 * @param differs whether the nodes of a run may have different values: {@code @nodes differ}
 */
record Tags(String reason, Map<String, List<String>> only, boolean differs) {
    static final Tags NONE = new Tags("", Map.of(), false);
    private static final Pattern ONLY = Pattern.compile("@only ([a-z.-]+) = (\\S+(?:, \\S+)*)");
    private static final String DIFFER = "@nodes differ";

    /**
     * Returns the comment of a value.
     *
     * @throws IllegalStateException if a tag does not exist
     */
    static Tags of(ConfigValue value, Tags section) {
        List<String> sentences = new ArrayList<>();
        Map<String, List<String>> only = new LinkedHashMap<>(section.only());
        boolean differs = section.differs();
        for (String comment : value.origin().comments()) {
            String line = comment.strip();
            Matcher condition = ONLY.matcher(line);
            if (condition.matches()) {
                only.put(condition.group(1), List.of(condition.group(2).split(", ")));
            } else if (line.equals(DIFFER)) {
                differs = true;
            } else if (line.startsWith("@")) {
                throw new IllegalStateException("there is no tag " + line);
            } else if (!line.isEmpty()) {
                sentences.add(line);
            }
        }
        return new Tags(String.join(" ", sentences), only, differs);
    }
}
