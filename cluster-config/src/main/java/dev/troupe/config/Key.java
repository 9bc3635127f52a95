package dev.troupe.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A key of a configuration: its declaration in the defaults, with the values that its reader accepts.
 *
 * @param path without {@code troupe.}; the keys of a node are under {@code cluster.nodes[]}
 * @param standard its default, as a file would have it
 * @param reason its meaning and the reason of its default; may be empty
 * @param accepts a description of the values that it accepts
 * @param choices these values, if they are few and named; otherwise empty
 * @param only other keys with the values under which this key has an effect; empty: it always has
 * @param differs whether the nodes of a run may have different values
 */
public record Key(String path, String standard, String reason, String accepts, List<String> choices,
        Map<String, List<String>> only, boolean differs) {

    public Key {
        choices = List.copyOf(choices);
        only = Collections.unmodifiableMap(new LinkedHashMap<>(only));
    }

    public String name() {
        return path.substring(path.lastIndexOf('.') + 1);
    }

    public Key withChoices(List<String> names) {
        return new Key(path, standard, reason, accepts, names, only, differs);
    }
}
