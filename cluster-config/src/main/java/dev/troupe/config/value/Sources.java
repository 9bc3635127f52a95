package dev.troupe.config.value;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigOriginFactory;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigResolveOptions;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueFactory;
import dev.troupe.config.file.ConfigFiles;
import dev.troupe.config.file.Expansion;
import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.KnownKeys;
import dev.troupe.config.problem.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The sources of a configuration: the settings of the command line over the file over the defaults.
 *
 * @param all settings over file over defaults, resolved
 * @param given settings over file: the keys that the user wrote
 * @param defaults every key
 * @param keys the keys that exist
 */
public record Sources(Config all, Config given, Config defaults, KnownKeys keys) {
    /** The section of all keys. */
    public static final String ROOT = "troupe";
    /** The section of the defaults that has the keys of a node. */
    public static final String NODE = "troupe-node";
    static final String DEFAULTS = "troupe-defaults.conf";
    static final String SETTING = "-s";
    private static final String PROGRAM = "set by the command";
    private static final String USAGE = "write it as -s training.steps=1000";
    private static final Pattern SUBSTITUTION = Pattern.compile("\\$\\{[^}]*}");
    // The parser's guesses about file types and quotes, which are seldom right.
    private static final Pattern ADVICE = Pattern.compile(" \\((if you|JSON does|in that case).*");
    private static final int LONGEST_REASON = 300;
    private static final ConfigResolveOptions NO_ENVIRONMENT = ConfigResolveOptions.noSystem();
    // Parsed once: the search for a plan reads thousands of configurations.
    private static final Config DECLARATIONS = parse();
    private static final Config DEFAULT_VALUES = DECLARATIONS.resolve();
    private static final KnownKeys KEYS = new KnownKeys(DEFAULT_VALUES.getObject(ROOT));

    /**
     * Reads everything and reports every key that does not exist.
     *
     * @param problems receives the problems
     * @throws ConfigException if the file cannot be parsed; with the problems found before
     */
    public static Sources read(Optional<Path> file, List<String> settings, List<Problem> problems) {
        Config overrides = overrides(settings, KEYS, problems);
        try {
            Config written = file.isPresent() ? ConfigFiles.parse(file.get()) : ConfigFactory.empty();
            Config user = overrides.withFallback(written);
            requireModest(user, file);
            Config all = user.withFallback(DEFAULT_VALUES).resolve(NO_ENVIRONMENT);
            // Its values may differ from the values of all, if a substitution refers to the value that it overrides.
            Config given = user.resolveWith(all, NO_ENVIRONMENT);
            checkRoot(given.root(), KEYS, problems);
            return new Sources(all, given, DEFAULT_VALUES, KEYS);
        } catch (ConfigException refused) {
            problems.addAll(refused.problems());
        } catch (com.typesafe.config.ConfigException malformed) {
            problems.add(malformed(malformed, file));
        } catch (StackOverflowError tooDeep) {
            problems.add(new Problem("", name(file), "sections of a sensible depth",
                    "more of them inside each other than can be read", "take some away"));
        }
        throw new ConfigException(problems);
    }

    private static void requireModest(Config user, Optional<Path> file) {
        if (Expansion.characters(user.root()) > Expansion.MOST_CHARACTERS) {
            throw new ConfigException(List.of(new Problem("", name(file),
                    "a configuration of at most 2 MiB once its substitutions are replaced",
                    "a larger one with values that repeat each other", "write each value where it belongs")));
        }
    }

    /**
     * Returns the values of a run that was read before, with others in the place of some.
     *
     * @param values values by their keys without {@code troupe.}
     * @param others the other values: texts, numbers, truth values, paths, durations, or lists of these
     * @throws IllegalArgumentException if a key does not exist
     */
    public static Sources of(Config values, Map<String, ?> others) {
        Config given = values;
        for (Map.Entry<String, ?> other : others.entrySet()) {
            if (!KEYS.isKey(other.getKey())) {
                throw new IllegalArgumentException("there is no key " + other.getKey());
            }
            given = given.withValue(other.getKey(),
                    ConfigValueFactory.fromAnyRef(Effective.plain(other.getValue()), PROGRAM));
        }
        Config under = given.atPath(ROOT);
        return new Sources(under.withFallback(DEFAULT_VALUES), under, DEFAULT_VALUES, KEYS);
    }

    /** Returns every key with its default. */
    public static Config defaultValues() {
        return DEFAULT_VALUES;
    }

    /** Returns the defaults as their file has them, with substitutions. */
    static Config declarations() {
        return DECLARATIONS;
    }

    private static Config parse() {
        try (InputStream stream = Sources.class.getResourceAsStream("/dev/troupe/config/" + DEFAULTS)) {
            ConfigParseOptions options = ConfigParseOptions.defaults().setOriginDescription(DEFAULTS);
            return ConfigFactory.parseReader(new InputStreamReader(stream, StandardCharsets.UTF_8), options);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Config overrides(List<String> settings, KnownKeys keys, List<Problem> problems) {
        Config overrides = ConfigFactory.empty();
        for (String setting : settings) {
            int equals = setting.indexOf('=');
            String key = equals < 0 ? setting.strip() : setting.substring(0, equals).strip();
            if (equals < 0) {
                problems.add(new Problem("", SETTING, "key=value", '"' + setting + "\" without '='",
                        keys.isKey(key) ? "write -s " + key + "=VALUE" : USAGE));
            } else if (key.isEmpty()) {
                problems.add(new Problem("", SETTING, "key=value", '"' + setting + "\" without a key", USAGE));
            } else if (keys.isKey(key)) {
                try {
                    ConfigValue value = settingValue(setting.substring(equals + 1).strip());
                    overrides = value.atPath(ROOT + "." + key).withFallback(overrides);
                } catch (com.typesafe.config.ConfigException malformed) {
                    problems.add(new Problem(key, SETTING, "a value", reason(malformed), ""));
                }
            } else if (keys.isSection(key)) {
                problems.add(new Problem(key, SETTING, "a key", "a section", "it has " + keys.keysOf(key)));
            } else if (key.startsWith(ROOT + ".")) {
                String bare = key.substring(ROOT.length() + 1);
                problems.add(new Problem(key, SETTING, "a key without " + ROOT + ".", key,
                        keys.isKey(bare) ? "did you mean " + bare + "?" : keys.adviceForKey(bare)));
            } else {
                problems.add(unknown(key, SETTING, keys.adviceForKey(key)));
            }
        }
        return overrides;
    }

    /** Returns plain text unparsed, since layouts and paths have characters that HOCON requires in quotes. */
    private static ConfigValue settingValue(String text) {
        if (text.startsWith("[") || text.startsWith("\"")) {
            ConfigParseOptions options = ConfigParseOptions.defaults().setOriginDescription(SETTING);
            return ConfigFactory.parseString("value = " + text, options).resolve(NO_ENVIRONMENT).getValue("value")
                    .withOrigin(ConfigOriginFactory.newSimple(SETTING));
        }
        return ConfigValueFactory.fromAnyRef(text, SETTING);
    }

    private static void checkRoot(ConfigObject root, KnownKeys keys, List<Problem> problems) {
        for (Map.Entry<String, ConfigValue> entry : new TreeMap<>(root).entrySet()) {
            String key = entry.getKey();
            String origin = Origins.of(entry.getValue().origin());
            if (key.equals(ROOT)) {
                checkSection("", entry.getValue(), keys, problems);
            } else if (keys.isKey(key) || keys.isSection(key) || keys.isKey(path("", key))) {
                problems.add(new Problem(key, origin, "everything under " + ROOT, key + " at the top of the file",
                        "write " + ROOT + "." + key + ", or put it into " + ROOT + " { ... }"));
            } else {
                String hint = KnownKeys.distance(key, ROOT) <= 2
                        ? "did you mean " + ROOT + "?"
                        : "put what is for this run into " + ROOT + " { ... } and take the rest out";
                problems.add(new Problem(key, origin, "nothing but " + ROOT + " at the top of the file", key, hint));
            }
        }
    }

    private static void checkSection(String section, ConfigValue value, KnownKeys keys, List<Problem> problems) {
        if (!(value instanceof ConfigObject object)) {
            problems.add(new Problem(section.isEmpty() ? ROOT : section, Origins.of(value.origin()),
                    "a section { ... }", Scalar.show(value), "it has " + keys.keysOf(section)));
            return;
        }
        for (Map.Entry<String, ConfigValue> entry : new TreeMap<>(object).entrySet()) {
            String path = path(section, entry.getKey());
            String origin = Origins.of(entry.getValue().origin());
            if (keys.isSection(path)) {
                checkSection(path, entry.getValue(), keys, problems);
            } else if (!keys.isKey(path)) {
                boolean isSection = entry.getValue() instanceof ConfigObject;
                problems.add(unknown(path, origin, isSection ? keys.adviceForSection(path) : keys.adviceForKey(path)));
            }
        }
    }

    private static String path(String section, String name) {
        // Quotes a name that has a dot in it, since the dot would separate two keys of a path.
        String quoted = ConfigUtil.joinPath(name);
        return section.isEmpty() ? quoted : section + "." + quoted;
    }

    static Problem unknown(String key, String origin, String advice) {
        return new Problem(key, origin, "a key that exists", "an unknown one", advice);
    }

    private static Problem malformed(com.typesafe.config.ConfigException malformed, Optional<Path> file) {
        String origin = malformed.origin() == null ? name(file) : Origins.of(malformed.origin());
        if (malformed instanceof com.typesafe.config.ConfigException.UnresolvedSubstitution) {
            Matcher substitution = SUBSTITUTION.matcher(malformed.getMessage());
            return new Problem("", origin, "substitutions that lead to a value",
                    substitution.find() ? substitution.group() : reason(malformed),
                    "define it; environment variables are not read");
        }
        return new Problem("", origin, "well-formed HOCON", reason(malformed), "");
    }

    /** Returns the message of the parser as the end of a sentence: without its origin and its advice, in one line. */
    private static String reason(com.typesafe.config.ConfigException malformed) {
        String message = malformed.getMessage();
        String origin = malformed.origin() == null ? "" : malformed.origin().description() + ": ";
        String bare = message.startsWith(origin) ? message.substring(origin.length()) : message;
        String line = ADVICE.matcher(bare.replaceAll("\\p{Cntrl}+", " ")).replaceAll("").strip();
        if (line.length() > LONGEST_REASON) { // some contain the whole configuration
            line = line.substring(0, LONGEST_REASON) + " ...";
        }
        return "an error: " + (line.endsWith(".") ? line.substring(0, line.length() - 1) : line);
    }

    private static String name(Optional<Path> file) {
        return file.map(Path::toString).orElse(SETTING);
    }
}
