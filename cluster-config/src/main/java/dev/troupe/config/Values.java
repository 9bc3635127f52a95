package dev.troupe.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.KnownKeys;
import dev.troupe.config.problem.Problem;
import dev.troupe.config.problem.Word;
import dev.troupe.config.spec.OptimizerSpec;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The values of a configuration by key, each checked for its type and range.
 *
 * <p>A wrong value becomes a problem and is replaced by its default, so that the other problems are found too.
 */
final class Values {
    private static final int FARTHEST_WORD = 2;

    private final Config all;
    private final Config given;
    private final Config defaults;
    /** The prefix of a key for a look-up. */
    private final String scope;
    /** The prefix of a key in a problem; may be empty. */
    private final String section;
    private final List<Problem> problems;
    private final Set<String> wrong;
    private final Map<String, List<String>> choices;

    /** Creates a view of the user's values over the defaults; a wrong value is added to the problems. */
    Values(Sources sources, List<Problem> problems) {
        this(sources.all(), sources.given(), sources.defaults(), "troupe.", "", problems, new HashSet<>(),
                new HashMap<>());
    }

    private Values(Config all, Config given, Config defaults, String scope, String section, List<Problem> problems,
            Set<String> wrong, Map<String, List<String>> choices) {
        this.all = all;
        this.given = given;
        this.defaults = defaults;
        this.scope = scope;
        this.section = section;
        this.problems = problems;
        this.wrong = wrong;
        this.choices = choices;
    }

    /**
     * Returns the values of every section of a list, each with its own keys; reports elements that are no section, and
     * unknown keys.
     *
     * @param template the path of the keys of such a section in the defaults
     */
    List<Values> sections(String key, String template) {
        Config standard = defaults.getConfig(template);
        KnownKeys keys = new KnownKeys(standard.root());
        if (!(value(key) instanceof ConfigList list)) {
            report(key, "a list of sections, such as [{ ... }, { ... }]", "a section has " + keys.keysOf(""));
            return List.of();
        }
        List<Values> sections = new ArrayList<>();
        for (int i = 0; i < list.size(); i++) {
            ConfigValue element = list.get(i);
            String place = key + "[" + i + "]";
            if (element instanceof ConfigObject object) {
                Config own = object.toConfig();
                sections.add(new Values(own.withFallback(standard), own, standard, "", place + ".", problems, wrong,
                        choices));
                sections.getLast().reportUnknown(keys);
            } else {
                wrong.add(key);
                problems.add(new Problem(place, Origins.of(element.origin()), "a section { ... }", Scalar.show(element),
                        "it has " + keys.keysOf("")));
            }
        }
        return sections;
    }

    private void reportUnknown(KnownKeys keys) {
        for (Map.Entry<String, ConfigValue> entry : new TreeMap<>(given.root()).entrySet()) {
            if (!keys.isKey(entry.getKey())) {
                problems.add(Sources.unknown(section + ConfigUtil.joinPath(entry.getKey()),
                        Origins.of(entry.getValue().origin()), keys.adviceForKey(entry.getKey())));
            }
        }
    }

    /** Returns a key as a problem names it. */
    String name(String key) {
        return section + key;
    }

    /** Returns whether the user wrote this key. */
    boolean isGiven(String key) {
        return find(given, key) != null;
    }

    /** Returns whether none of these keys has a problem, so that they can be compared with each other. */
    boolean sound(String... keys) {
        return Arrays.stream(keys).map(this::name).noneMatch(wrong::contains);
    }

    int integer(String key, int minimum, int maximum) {
        OptionalInt number = Scalar.whole(value(key), minimum, maximum);
        if (number.isPresent()) {
            return number.getAsInt();
        }
        report(key, "a whole number " + Scalar.range(minimum, maximum), "");
        return defaults.getInt(path(key));
    }

    /** Returns the numbers of a list, or an empty list where one is wrong. */
    List<Integer> integers(String key, int minimum, int maximum) {
        if (value(key) instanceof ConfigList list) {
            List<OptionalInt> numbers = list.stream().map(element -> Scalar.whole(element, minimum, maximum)).toList();
            if (numbers.stream().allMatch(OptionalInt::isPresent)) {
                return numbers.stream().map(OptionalInt::getAsInt).toList();
            }
        }
        report(key, "a list of whole numbers " + Scalar.range(minimum, maximum) + ", such as [0, 1]", "");
        return List.of();
    }

    long seed(String key) {
        ConfigValue value = value(key);
        try {
            return new BigDecimal(Scalar.number(value)).longValueExact();
        } catch (ArithmeticException | NumberFormatException notWhole) {
            report(key, "a whole number of at most 64 bits", "");
            return defaults.getLong(path(key));
        }
    }

    double decimal(String key, Range range) {
        double number = Scalar.decimal(value(key));
        if (range.holds(number)) {
            return number;
        }
        report(key, "a finite number " + range.words(), "");
        return defaults.getDouble(path(key));
    }

    OptimizerSpec.Betas betas(String key) {
        if (value(key) instanceof ConfigList list && list.size() == 2) {
            double first = Scalar.decimal(list.get(0));
            double second = Scalar.decimal(list.get(1));
            if (Range.FRACTION.holds(first) && Range.FRACTION.holds(second)) {
                return new OptimizerSpec.Betas(first, second);
            }
        }
        report(key, "two numbers, each " + Range.FRACTION.words() + ", such as [0.9, 0.95]", "");
        List<Double> standard = defaults.getDoubleList(path(key));
        return new OptimizerSpec.Betas(standard.get(0), standard.get(1));
    }

    /** Reads the text of a key. */
    interface Reader<T> {
        /** Returns the value of the text, or throws with every problem of it. */
        T read(String text, String key, String origin);
    }

    /** Returns the values of the texts of a list, or of a single text, without those that are wrong. */
    <T> List<T> each(String key, String expected, Reader<T> reader) {
        List<T> all = new ArrayList<>();
        List<ConfigValue> elements = elements(key);
        for (int i = 0; i < elements.size(); i++) {
            ConfigValue element = elements.get(i);
            String place = value(key) instanceof ConfigList ? key + "[" + i + "]" : key;
            String text = Scalar.text(element);
            if (text == null) {
                problems.add(
                        new Problem(name(place), Origins.of(element.origin()), expected, Scalar.show(element), ""));
                continue;
            }
            try {
                all.add(reader.read(text, name(place), Origins.of(element.origin())));
            } catch (dev.troupe.config.problem.ConfigException wrongText) {
                problems.addAll(wrongText.problems());
            }
        }
        return all;
    }

    private List<ConfigValue> elements(String key) {
        return value(key) instanceof ConfigList list ? list : List.of(value(key));
    }

    /** Returns the values of each key that was read and accepts only a few. */
    Map<String, List<String>> choices() {
        return choices;
    }

    boolean flag(String key) {
        choices.put(name(key), List.of("true", "false"));
        return switch (Scalar.text(value(key))) {
            case "true" -> true;
            case "false" -> false;
            case null, default -> {
                report(key, "true or false", "");
                yield defaults.getBoolean(path(key));
            }
        };
    }

    <E extends Enum<E> & Word> E word(String key, Class<E> type, String hint) {
        String text = Scalar.text(value(key));
        List<E> words = List.of(type.getEnumConstants());
        choices.put(name(key), words.stream().map(Word::word).toList());
        for (E choice : words) {
            if (choice.word().equals(text)) {
                return choice;
            }
        }
        report(key, words.stream().map(Word::word).collect(Collectors.joining(" or ")),
                near(text, words.stream().map(Word::word).toList()).orElse(hint));
        String standard = defaults.getString(path(key));
        return words.stream().filter(choice -> choice.word().equals(standard)).findFirst().orElseThrow();
    }

    /**
     * Returns one of some words, or the absolute path of a directory that has a certain file; empty where the value is
     * another word.
     */
    Optional<String> wordOrDirectory(String key, List<String> words, String file, String other) {
        String text = Scalar.text(value(key));
        choices.put(name(key), Stream.concat(Stream.of(other), words.stream()).toList());
        if (text == null || text.equals(other) || words.contains(text)) {
            if (text == null) {
                report(key, expected(words, file), "");
            }
            return text == null || text.equals(other) ? Optional.empty() : Optional.of(text);
        }
        try {
            Path directory = Path.of(text).toAbsolutePath();
            if (Files.isRegularFile(directory.resolve(file))) {
                return Optional.of(directory.toString());
            }
        } catch (InvalidPathException noPath) {
            // It is reported below.
        }
        report(key, expected(words, file), near(text, words).orElse(""));
        return Optional.empty();
    }

    private static String expected(List<String> words, String file) {
        return String.join(", ", words) + " or a directory with a " + file;
    }

    private static Optional<String> near(String text, List<String> words) {
        return words.stream().filter(word -> text != null && KnownKeys.distance(text, word) <= FARTHEST_WORD)
                .findFirst().map(word -> "did you mean " + word + "?");
    }

    String text(String key, Pattern allowed, String expected) {
        String text = Scalar.text(value(key));
        if (text != null && allowed.matcher(text).matches()) {
            return text;
        }
        report(key, expected, "");
        return defaults.getString(path(key));
    }

    /** Returns a path made absolute, or null where the value is one of the words for no path. */
    Path path(String key, Set<String> none) {
        String text = Scalar.text(value(key));
        if (text == null) {
            report(key, "a path", "");
            return null;
        }
        try {
            return none.contains(text) ? null : Path.of(text).toAbsolutePath();
        } catch (InvalidPathException noPath) {
            report(key, "a path", "");
            return null;
        }
    }

    /** Returns the paths of a list, or a single path, made absolute; none where the value is a word for no path. */
    List<Path> paths(String key, Set<String> none) {
        if (!(value(key) instanceof ConfigList list)) {
            return Optional.ofNullable(path(key, none)).stream().toList();
        }
        List<Path> paths = new ArrayList<>();
        for (ConfigValue element : list) {
            String text = Scalar.text(element);
            try {
                if (text == null || none.contains(text)) {
                    report(key, "a path, or a list of one or more", "");
                    return List.of();
                }
                paths.add(Path.of(text).toAbsolutePath());
            } catch (InvalidPathException noPath) {
                report(key, "a path, or a list of one or more", "");
                return List.of();
            }
        }
        if (paths.isEmpty()) {
            report(key, "a path, or a list of one or more", "");
        }
        return paths;
    }

    /** Returns a size in bytes, a power of two or 0. */
    int powerOfTwoBytes(String key, int minimum, int maximum) {
        try {
            long bytes = value(key).atKey("size").getBytes("size");
            if (bytes == 0 || bytes >= minimum && bytes <= maximum && Long.bitCount(bytes) == 1) {
                return Math.toIntExact(bytes);
            }
        } catch (com.typesafe.config.ConfigException noSize) {
            // Every wrong size is reported below.
        }
        report(key, "a size that is a power of two from 1MiB to 1GiB, such as 8MiB, or 0", "");
        return Math.toIntExact(defaults.getBytes(path(key)));
    }

    Duration duration(String key, Duration minimum, Duration maximum) {
        Duration duration = Scalar.duration(value(key), minimum, maximum);
        if (duration != null) {
            return duration;
        }
        report(key, "a duration with its unit " + Scalar.range(minimum, maximum) + ", such as 60s", "");
        return defaults.getDuration(path(key));
    }

    /** Returns the durations of a list, or a single duration. */
    List<Duration> durations(String key, Duration minimum, Duration maximum) {
        List<Duration> durations = new ArrayList<>();
        elements(key).forEach(element -> durations.add(Scalar.duration(element, minimum, maximum)));
        if (!durations.isEmpty() && !durations.contains(null)) {
            return durations;
        }
        report(key,
                "a duration with its unit " + Scalar.range(minimum, maximum)
                        + ", or a list of them, such as 2ms or [2ms, 3ms]",
                "");
        return List.of(defaults.getDuration(path(key)));
    }

    /** Reports that a value is wrong by itself. */
    void report(String key, String expected, String hint) {
        ConfigValue value = value(key);
        report(key, expected, Scalar.show(value), hint);
    }

    /** Reports that a value contradicts others. */
    void report(String key, String expected, String found, String hint) {
        wrong.add(name(key));
        // A key that a section of a list leaves out has no line of its own.
        ConfigValue place = section.isEmpty() || isGiven(key) ? value(key) : given.root();
        problems.add(new Problem(name(key), Origins.of(place.origin()), expected, found, hint));
    }

    /** Reports that a key is missing and returns the given value in its place. */
    <T> T missing(String key, String expected, T instead) {
        report(key, expected, "none", "");
        return instead;
    }

    private ConfigValue value(String key) {
        ConfigValue value = find(all, key);
        return value == null ? find(defaults, key) : value;
    }

    private ConfigValue find(Config config, String key) {
        ConfigValue value = config.root();
        for (String name : path(key).split("\\.")) {
            value = value instanceof ConfigObject section ? section.get(name) : null;
        }
        return value;
    }

    private String path(String key) {
        return scope + key;
    }
}
