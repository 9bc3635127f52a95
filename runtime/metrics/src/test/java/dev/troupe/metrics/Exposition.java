package dev.troupe.metrics;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A reader of Prometheus' text format, version 0.0.4, with the rules of {@code promtool check metrics}: the format's, and
 * those in client_golang's promlint.
 */
final class Exposition {
    private static final Pattern META = Pattern.compile("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)");
    private static final Pattern SAMPLE = Pattern
            .compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? ([^ ]+)(?: (-?[0-9]+))?");
    private static final Pattern LABEL = Pattern
            .compile("\\G([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\n]|\\\\[\\\\\"n])*)\"(?:,|$)");
    private static final Pattern VALUE = Pattern
            .compile("[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?|NaN|[+-]Inf");
    private static final Set<String> TYPES = Set.of("counter", "gauge", "histogram", "summary", "untyped");
    private static final Pattern NO_BASE_UNIT = Pattern
            .compile("(?:nano|micro|milli|kilo|kibi|mega|mebi|giga|gibi)\\w+|bits|minutes|hours|days|percent");
    private static final Set<String> ABBREVIATIONS = Set.of("s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "m",
            "h", "d");

    /** The value of each series, by its name and its sorted labels. */
    private final Map<String, Double> series = new LinkedHashMap<>();
    private final Map<String, String> types = new HashMap<>();
    private final Map<String, String> helps = new HashMap<>();
    private final Set<String> ended = new HashSet<>();
    private final List<String> problems = new ArrayList<>();
    private String family = "";

    Exposition(String text) {
        if (!text.endsWith("\n")) {
            problems.add("the last line has no end");
        }
        text.lines().forEach(this::read);
        types.forEach(this::lint);
    }

    List<String> problems() {
        return problems;
    }

    /** Returns the names of all samples. */
    Set<String> names() {
        return series.keySet().stream().map(one -> one.substring(0, one.indexOf('{'))).collect(Collectors.toSet());
    }

    /** Returns the value of a series, such as {@code troupe_tokens_total{run="mine"}}, labels in alphabetical order. */
    double value(String name) {
        if (!series.containsKey(name)) {
            throw new AssertionError("no series " + name + " in " + series.keySet());
        }
        return series.get(name);
    }

    /** Returns the sum of the series of a name. */
    double sum(String name) {
        return series.entrySet().stream().filter(entry -> entry.getKey().startsWith(name + "{"))
                .mapToDouble(Map.Entry::getValue).sum();
    }

    private void read(String line) {
        Matcher meta = META.matcher(line);
        if (meta.matches()) {
            boolean isType = meta.group(1).equals("TYPE");
            begin(meta.group(2));
            if ((isType ? types : helps).put(meta.group(2), meta.group(3)) != null) {
                problems.add("a second " + meta.group(1) + " of " + meta.group(2));
            }
            if (series.keySet().stream().anyMatch(name -> name.startsWith(meta.group(2) + "{"))) {
                problems.add(line + " is after samples");
            }
            if (isType && !TYPES.contains(meta.group(3))) {
                problems.add("no type: " + line);
            }
        } else if (!line.isEmpty() && !line.startsWith("#")) {
            sample(line);
        }
    }

    /** The lines of a family are one group. */
    private void begin(String name) {
        if (!name.equals(family)) {
            ended.add(family);
            family = name;
            if (ended.contains(name)) {
                problems.add("the lines of " + name + " are in two groups");
            }
        }
    }

    private void sample(String line) {
        Matcher sample = SAMPLE.matcher(line);
        if (!sample.matches()) {
            problems.add("no sample: " + line);
            return;
        }
        Map<String, String> labels = labels(sample.group(2), line);
        String name = sample.group(1);
        String of = familyOf(name, labels);
        begin(of);
        if (!types.containsKey(of)) {
            problems.add("no TYPE in front of " + line);
        }
        if (!VALUE.matcher(sample.group(3)).matches()) {
            problems.add("no value: " + line);
            return;
        }
        StringBuilder key = new StringBuilder(name).append('{');
        labels.forEach((label, value) -> key.append(key.charAt(key.length() - 1) == '{' ? "" : ",").append(label)
                .append("=\"").append(value).append('"'));
        if (series.put(key.append('}').toString(),
                Double.valueOf(sample.group(3).replace("Inf", "Infinity"))) != null) {
            problems.add("a second sample of " + key);
        }
    }

    /** The samples of a summary have its name, or that with {@code _sum} or {@code _count}. */
    private String familyOf(String name, Map<String, String> labels) {
        String stem = name.replaceFirst("_(sum|count|bucket)$", "");
        String type = types.getOrDefault(stem, "");
        boolean isPart = type.equals("summary") || type.equals("histogram");
        if (labels.containsKey("quantile") && !type.equals("summary") || labels.containsKey("le")
                && !type.equals("histogram")) {
            problems.add(name + " has a label that is reserved");
        }
        return isPart ? stem : name;
    }

    private Map<String, String> labels(String text, String line) {
        Map<String, String> labels = new TreeMap<>();
        if (text != null) {
            Matcher label = LABEL.matcher(text);
            int end = 0;
            while (label.find()) {
                end = label.end();
                if (labels.put(label.group(1), label.group(2)) != null) {
                    problems.add("a label twice: " + line);
                }
                if (!label.group(1).equals(label.group(1).toLowerCase(Locale.ROOT))) {
                    problems.add("camelCase: " + line);
                }
            }
            if (end != text.length()) {
                problems.add("no labels: " + line);
            }
        }
        return labels;
    }

    private void lint(String name, String type) {
        if (helps.getOrDefault(name, "").isBlank()) {
            problems.add(name + " has no HELP");
        }
        if (type.equals("counter") != name.endsWith("_total")) {
            problems.add(name + " is a " + type);
        }
        if (name.matches(".*_(sum|count|bucket|info_total)")) {
            problems.add(name + " ends as a part of a summary does");
        }
        if (name.contains(":") || !name.equals(name.toLowerCase(Locale.ROOT))) {
            problems.add(name + " has a character that is reserved");
        }
        for (String word : name.split("_")) {
            if (NO_BASE_UNIT.matcher(word).matches() || ABBREVIATIONS.contains(word)) {
                problems.add(name + " has no base unit: " + word);
            }
            if (TYPES.contains(word)) {
                problems.add(name + " has a type in its name");
            }
        }
    }
}
