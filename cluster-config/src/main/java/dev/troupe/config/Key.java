package dev.troupe.config;

import java.util.List;

/**
 * A key of a configuration, as the defaults have it.
 *
 * @param path without {@code troupe.}; the keys of a node are under {@code cluster.nodes[]}
 * @param standard its default, as a file would have it
 * @param reason its meaning and the reason of its default; may be empty
 * @param choices its values where they are few and named; otherwise empty
 */
public record Key(String path, String standard, String reason, List<String> choices) {

    public Key {
        choices = List.copyOf(choices);
    }

    /** Returns the last name of the path. */
    public String name() {
        return path.substring(path.lastIndexOf('.') + 1);
    }
}
