package dev.troupe.config.value;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigOrigin;
import com.typesafe.config.ConfigValue;

/**
 * The look-up of keys in one section of a configuration.
 *
 * @param all the user's values over the defaults
 * @param scope prefix of a key in these three
 * @param section prefix of a key in a problem; may be empty
 */
record Lookup(Config all, Config given, Config defaults, String scope, String section) {

    Lookup(Sources sources) {
        this(sources.all(), sources.given(), sources.defaults(), Sources.ROOT + ".", "");
    }

    /** Returns a key as a problem names it. */
    String name(String key) {
        return section + key;
    }

    boolean isGiven(String key) {
        return find(given, key) != null;
    }

    ConfigValue value(String key) {
        ConfigValue value = find(all, key);
        return value == null ? find(defaults, key) : value;
    }

    /** Returns the line to name in a problem; if a list's section lacks the key, the line of the section. */
    ConfigOrigin place(String key) {
        return section.isEmpty() || isGiven(key) ? value(key).origin() : given.root().origin();
    }

    String path(String key) {
        return scope + key;
    }

    private ConfigValue find(Config config, String key) {
        ConfigValue value = config.root();
        for (String name : path(key).split("\\.")) {
            value = value instanceof ConfigObject inner ? inner.get(name) : null;
        }
        return value;
    }
}
