package dev.troupe.config.value;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigValue;
import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.KnownKeys;
import dev.troupe.config.problem.Problem;
import dev.troupe.config.problem.Word;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The values of a configuration by key, each checked for its type and range when it is read.
 *
 * <p>A wrong value becomes a problem and is replaced by its default, so that the other problems are found too. Every value
 * that is read takes effect and is kept for the file of the run, unless its reader {@link #settle settles} on another.
 */
public final class Values {
    private static final String PATH = "a path";
    private static final String PATHS = "a path, or a list of one or more";

    private final Lookup lookup;
    private final Findings findings;
    private final Effective effective = new Effective();

    /**
     * The values that a key accepts.
     *
     * @param choices the values, if they are few and named; otherwise empty
     */
    public record Accepted(String expected, List<String> choices) {
    }

    /** Creates a view of the user's values over the defaults; a wrong value is added to the problems. */
    public Values(Sources sources, List<Problem> problems) {
        this(new Lookup(sources), new Findings(problems));
    }

    private Values(Lookup lookup, Findings findings) {
        this.lookup = lookup;
        this.findings = findings;
    }

    /**
     * Returns the values of every section of a list, each with its own keys; reports elements that are no section, and
     * unknown keys.
     *
     * @param template the path of the keys of such a section in the defaults
     */
    public List<Values> sections(String key, String template) {
        Config standard = lookup.defaults().getConfig(template);
        KnownKeys keys = new KnownKeys(standard.root());
        String expected = accepts(key, "a list of sections, such as [{ ... }, { ... }]");
        if (!(value(key) instanceof ConfigList list)) {
            report(key, expected, "a section has " + keys.keysOf(""));
            return List.of();
        }
        List<Values> sections = new ArrayList<>();
        for (int i = 0; i < list.size(); i++) {
            ConfigValue element = list.get(i);
            String place = key + "[" + i + "]";
            if (element instanceof ConfigObject object) {
                Config own = object.toConfig();
                Lookup section = new Lookup(own.withFallback(standard), own, standard, "", place + ".");
                findings.addUnknown(section, keys);
                sections.add(new Values(section, findings));
            } else {
                findings.addWrong(key, new Problem(place, Origins.of(element.origin()), "a section { ... }",
                        Scalar.show(element), "it has " + keys.keysOf("")));
            }
        }
        return sections;
    }

    /** Returns a key as a problem names it. */
    public String name(String key) {
        return lookup.name(key);
    }

    public boolean isGiven(String key) {
        return lookup.isGiven(key);
    }

    /** Returns whether none of these keys has a problem, so that they can be compared with each other. */
    public boolean sound(String... keys) {
        return Arrays.stream(keys).map(this::name).noneMatch(findings::isWrong);
    }

    /**
     * Lets a value take effect in place of the one that is read.
     *
     * @param value a text, number, truth value, path, duration, section, or a list of these
     */
    public void settle(String key, Object value) {
        effective.settle(key, value, value(key).origin());
    }

    /** Removes the values of these keys, which have no effect in the run. */
    public void leaveOut(String... keys) {
        Arrays.stream(keys).forEach(effective::leaveOut);
    }

    /** Returns the values that take effect. */
    public Config effective() {
        return effective.config();
    }

    /** Returns, for each key that was read, the values that it accepts. */
    public Map<String, Accepted> accepted() {
        return findings.accepted();
    }

    private String accepts(String key, String expected, String... choices) {
        findings.accepts(name(key), new Accepted(expected, List.of(choices)));
        return expected;
    }

    private <T> T read(String key, T value) {
        effective.read(key, value, value(key).origin());
        return value;
    }

    public int integer(String key, int minimum, int maximum) {
        String expected = accepts(key, "a whole number " + Scalar.range(minimum, maximum));
        OptionalInt number = Scalar.whole(value(key), minimum, maximum);
        if (number.isPresent()) {
            return read(key, number.getAsInt());
        }
        report(key, expected, "");
        return lookup.defaults().getInt(lookup.path(key));
    }

    /** Returns the numbers of a list, or an empty list if one is wrong. */
    public List<Integer> integers(String key, int minimum, int maximum) {
        String expected = accepts(key,
                "a list of whole numbers " + Scalar.range(minimum, maximum) + ", such as [0, 1]");
        if (value(key) instanceof ConfigList list) {
            List<OptionalInt> numbers = list.stream().map(element -> Scalar.whole(element, minimum, maximum)).toList();
            if (numbers.stream().allMatch(OptionalInt::isPresent)) {
                return read(key, numbers.stream().map(OptionalInt::getAsInt).toList());
            }
        }
        report(key, expected, "");
        return List.of();
    }

    public long seed(String key) {
        String expected = accepts(key, "a whole number of at most 64 bits");
        try {
            return read(key, new BigDecimal(Scalar.number(value(key))).longValueExact());
        } catch (ArithmeticException | NumberFormatException notWhole) {
            report(key, expected, "");
            return lookup.defaults().getLong(lookup.path(key));
        }
    }

    public double decimal(String key, Range range) {
        String expected = accepts(key, "a finite number " + range.words());
        double number = Scalar.decimal(value(key));
        if (range.holds(number)) {
            return read(key, number);
        }
        report(key, expected, "");
        return lookup.defaults().getDouble(lookup.path(key));
    }

    /** Returns the two numbers of a list, each of at least 0 and below 1. */
    public List<Double> twoFractions(String key) {
        String expected = accepts(key, "two numbers, each " + Range.FRACTION.words() + ", such as [0.9, 0.95]");
        if (value(key) instanceof ConfigList list && list.size() == 2) {
            List<Double> numbers = list.stream().map(Scalar::decimal).toList();
            if (numbers.stream().allMatch(Range.FRACTION::holds)) {
                return read(key, numbers);
            }
        }
        report(key, expected, "");
        return lookup.defaults().getDoubleList(lookup.path(key));
    }

    /** Reads the text of a key. */
    public interface Reader<T> {
        /** Returns the value of the text, or throws with every problem of it. */
        T read(String text, String key, String origin);
    }

    /** Returns the values of the texts of a list, or of a single text, without those that are wrong. */
    public <T> List<T> each(String key, String expected, Reader<T> reader) {
        accepts(key, expected);
        List<T> found = new ArrayList<>();
        List<ConfigValue> elements = elements(key);
        for (int i = 0; i < elements.size(); i++) {
            ConfigValue element = elements.get(i);
            String place = value(key) instanceof ConfigList ? key + "[" + i + "]" : key;
            String text = Scalar.text(element);
            if (text == null) {
                findings.add(
                        new Problem(name(place), Origins.of(element.origin()), expected, Scalar.show(element), ""));
                continue;
            }
            try {
                found.add(reader.read(text, name(place), Origins.of(element.origin())));
            } catch (ConfigException wrongText) {
                findings.addAll(wrongText.problems());
            }
        }
        read(key, elements.stream().map(Scalar::text).filter(text -> text != null).toList());
        return found;
    }

    private List<ConfigValue> elements(String key) {
        return value(key) instanceof ConfigList list ? list : List.of(value(key));
    }

    public boolean flag(String key) {
        String expected = accepts(key, "true or false", "true", "false");
        return switch (Scalar.text(value(key))) {
            case "true" -> read(key, true);
            case "false" -> read(key, false);
            case null, default -> {
                report(key, expected, "");
                yield lookup.defaults().getBoolean(lookup.path(key));
            }
        };
    }

    public <E extends Enum<E> & Word> E word(String key, Class<E> type, String hint) {
        String text = Scalar.text(value(key));
        List<E> choices = List.of(type.getEnumConstants());
        List<String> words = choices.stream().map(Word::word).toList();
        String expected = accepts(key, String.join(" or ", words), words.toArray(String[]::new));
        if (words.contains(text)) {
            return choices.get(words.indexOf(read(key, text)));
        }
        report(key, expected, Scalar.near(text, words).orElse(hint));
        return choices.get(words.indexOf(lookup.defaults().getString(lookup.path(key))));
    }

    /**
     * Returns one of some words, or the absolute path of a directory that has a certain file; empty if the value is another
     * word. The reader settles on the value that takes effect.
     */
    public Optional<String> wordOrDirectory(String key, List<String> words, String file, String other) {
        String text = Scalar.text(value(key));
        String expected = accepts(key, String.join(", ", words) + " or a directory with a " + file,
                Stream.concat(Stream.of(other), words.stream()).toArray(String[]::new));
        if (text == null || text.equals(other) || words.contains(text)) {
            if (text == null) {
                report(key, expected, "");
            }
            return text == null || text.equals(other) ? Optional.empty() : Optional.of(text);
        }
        Path directory = Scalar.path(text);
        if (directory != null && Files.isRegularFile(directory.resolve(file))) {
            return Optional.of(directory.toString());
        }
        report(key, expected, Scalar.near(text, words).orElse(""));
        return Optional.empty();
    }

    public String text(String key, Texts texts) {
        return text(key, texts.pattern(), texts.expected());
    }

    public String text(String key, Pattern allowed, String expected) {
        accepts(key, expected);
        String text = Scalar.text(value(key));
        if (text != null && allowed.matcher(text).matches()) {
            return read(key, text);
        }
        report(key, expected, "");
        return lookup.defaults().getString(lookup.path(key));
    }

    /** Returns a path made absolute, or null if the value is one of the words for no path. */
    public Path path(String key, Set<String> none) {
        accepts(key, PATH);
        String text = Scalar.text(value(key));
        Path path = none.contains(text == null ? "" : text) ? null : Scalar.path(text);
        if (text == null || path == null && !none.contains(text)) {
            report(key, PATH, "");
            return null;
        }
        read(key, path == null ? text : path);
        return path;
    }

    /** Returns the paths of a list, or a single path, made absolute; none if the value is a word for no path. */
    public List<Path> paths(String key, Set<String> none) {
        if (!(value(key) instanceof ConfigList list)) {
            List<Path> single = Optional.ofNullable(path(key, none)).stream().toList();
            accepts(key, PATHS);
            return single;
        }
        accepts(key, PATHS);
        List<String> texts = list.stream().map(Scalar::text).toList();
        List<Path> paths = texts.stream().filter(text -> text != null && !none.contains(text)).map(Scalar::path)
                .filter(path -> path != null).toList();
        if (paths.isEmpty() || paths.size() < texts.size()) {
            report(key, PATHS, "");
            return List.of();
        }
        read(key, paths.size() == 1 ? paths.getFirst() : paths);
        return paths;
    }

    /** Returns a size in bytes, a power of two or 0. */
    public int powerOfTwoBytes(String key, int minimum, int maximum) {
        String expected = accepts(key, "a size that is a power of two from 1MiB to 1GiB, such as 8MiB, or 0");
        long bytes = Scalar.bytes(value(key));
        if (bytes == 0 || bytes >= minimum && bytes <= maximum && Long.bitCount(bytes) == 1) {
            return read(key, Math.toIntExact(bytes));
        }
        report(key, expected, "");
        return Math.toIntExact(lookup.defaults().getBytes(lookup.path(key)));
    }

    public Duration duration(String key, Duration minimum, Duration maximum) {
        String expected = accepts(key,
                "a duration with its unit " + Scalar.range(minimum, maximum) + ", such as 60s");
        Duration duration = Scalar.duration(value(key), minimum, maximum);
        if (duration != null) {
            return read(key, duration);
        }
        report(key, expected, "");
        return lookup.defaults().getDuration(lookup.path(key));
    }

    /** Returns the durations of a list, or a single duration. */
    public List<Duration> durations(String key, Duration minimum, Duration maximum) {
        String expected = accepts(key, "a duration with its unit " + Scalar.range(minimum, maximum)
                + ", or a list of them, such as 2ms or [2ms, 3ms]");
        List<Duration> durations = new ArrayList<>();
        elements(key).forEach(element -> durations.add(Scalar.duration(element, minimum, maximum)));
        if (!durations.isEmpty() && !durations.contains(null)) {
            return read(key, durations);
        }
        report(key, expected, "");
        return List.of(lookup.defaults().getDuration(lookup.path(key)));
    }

    /** Reports that a value is wrong by itself. */
    public void report(String key, String expected, String hint) {
        report(key, expected, Scalar.show(value(key)), hint);
    }

    /** Reports that a value contradicts others. */
    public void report(String key, String expected, String found, String hint) {
        findings.addWrong(name(key), new Problem(name(key), Origins.of(lookup.place(key)), expected, found, hint));
    }

    /** Reports that a key is missing and returns the given value in its place. */
    public <T> T missing(String key, String expected, T instead) {
        report(key, expected, "none", "");
        return instead;
    }

    private ConfigValue value(String key) {
        return lookup.value(key);
    }
}
