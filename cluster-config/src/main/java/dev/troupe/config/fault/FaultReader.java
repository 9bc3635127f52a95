package dev.troupe.config.fault;

import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.Problem;
import dev.troupe.config.problem.Word;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The reader of one fault from text, which reports every wrong word. */
final class FaultReader {
    private static final List<String> NAMES = List.of("stage", "rank", "step", "microbatch", "at", "message", "factor",
            "seconds", "probability", "seed", "times");
    static final int MOST_DECIMALS = 30;
    private static final Pattern NUMBER = Pattern.compile("-?(\\d{1,18}(\\.\\d{0," + MOST_DECIMALS
            + "})?|\\.\\d{1," + MOST_DECIMALS + "})([eE][+-]?\\d{1,2})?");
    // The largest rank that fits the transport's frames.
    private static final long MOST_RANKS = 65535;
    private static final long MOST_SECONDS = 86_400;
    private static final double MOST_FACTOR = 1000;

    private final String text;
    private final String key;
    private final String origin;
    private final Map<String, String> values = new LinkedHashMap<>();
    private final List<Problem> problems = new ArrayList<>();

    FaultReader(String text, String key, String origin) {
        this.text = text;
        this.key = key;
        this.origin = origin;
    }

    FaultSpec read() {
        List<String> words = Arrays.stream(text.strip().split("\\s+")).filter(word -> !word.isEmpty()).toList();
        Optional<FaultKind> kind = kind(words);
        words.stream().skip(1).forEach(this::take);
        OptionalLong stage = whole("stage", 0, MOST_RANKS);
        OptionalLong rank = whole("rank", 0, MOST_RANKS);
        OptionalLong step = whole("step", 0, Long.MAX_VALUE);
        OptionalLong microbatch = whole("microbatch", 0, Integer.MAX_VALUE);
        Optional<FaultPoint> at = point(kind);
        Optional<FaultMessage> message = message(kind, at);
        OptionalDouble factor = decimal("factor", 1, MOST_FACTOR);
        OptionalDouble seconds = decimal("seconds", 0, MOST_SECONDS);
        double probability = probability();
        OptionalLong seed = whole("seed", Long.MIN_VALUE, Long.MAX_VALUE);
        OptionalLong times = whole("times", 0, Integer.MAX_VALUE);
        if (kind.isPresent()) {
            checkTogether(kind.get(), at);
        }
        if (!problems.isEmpty()) {
            throw new ConfigException(problems);
        }
        FaultKind known = kind.orElseThrow();
        return new FaultSpec(known, small(stage), small(rank), step, small(microbatch), at, message,
                factor.orElse(known.hasFactor() ? FaultSpec.USUAL_FACTOR : 1),
                seconds.orElse(known.usualSeconds().orElse(0)), probability, seed.orElse(0),
                (int) times.orElse(FaultSpec.usualTimes(probability)));
    }

    private Optional<FaultKind> kind(List<String> words) {
        String word = words.isEmpty() ? "nothing" : words.getFirst();
        Optional<FaultKind> kind = Word.find(FaultKind.values(), word);
        if (kind.isEmpty()) {
            String advice = words.isEmpty() ? "" : Word.advice(FaultKind.values(), word);
            // A list of all kinds would hide the nearest one.
            report("a kind of fault as the first word"
                    + (advice.isEmpty() ? ": " + choices(List.of(FaultKind.values())) : ""), word, advice);
        }
        return kind;
    }

    private void take(String word) {
        int equals = word.indexOf('=');
        String name = equals < 0 ? word : word.substring(0, equals);
        if (equals < 0 || !NAMES.contains(name)) {
            report("NAME=VALUE after the kind, where NAME is " + String.join(" or ", NAMES), word, "");
        } else if (values.putIfAbsent(name, word.substring(equals + 1)) != null) {
            report(name + " once", word + " after " + name + "=" + values.get(name), "");
        }
    }

    private Optional<FaultPoint> point(Optional<FaultKind> kind) {
        String word = values.get("at");
        if (word == null) {
            return Optional.empty();
        }
        Optional<FaultPoint> point = Word.find(FaultPoint.values(), word);
        Collection<FaultPoint> allowed = kind.map(known -> (Collection<FaultPoint>) known.points())
                .orElse(List.of(FaultPoint.values()));
        if (point.isEmpty() || !allowed.contains(point.get())) {
            report("at=" + choices(allowed.stream().sorted().toList())
                    + kind.map(known -> " for " + known.word()).orElse(""), "at=" + word, "");
            return Optional.empty();
        }
        return point;
    }

    private Optional<FaultMessage> message(Optional<FaultKind> kind, Optional<FaultPoint> at) {
        String word = values.get("message");
        if (word == null) {
            return Optional.empty();
        }
        Optional<FaultMessage> message = Word.find(FaultMessage.values(), word);
        if (message.isEmpty()) {
            report("message=" + choices(List.of(FaultMessage.values())), "message=" + word, "");
        } else if (kind.isPresent() && !kind.get().strikesOnlyMessages(at)) {
            report("no message " + at.map(point -> "at=" + point.word()).orElse("for " + kind.get().word()),
                    "message=" + word, "write at=send or at=receive, or leave it out");
        }
        return message;
    }

    private double probability() {
        OptionalDouble probability = decimal("probability", 0, 1);
        if (probability.isPresent() && probability.getAsDouble() == 0) {
            report("a probability above 0", "probability=" + values.get("probability"), "take the fault out");
        }
        return probability.orElse(1);
    }

    private void checkTogether(FaultKind kind, Optional<FaultPoint> at) {
        if (values.containsKey("factor") && !kind.hasFactor()) {
            report("no factor for " + kind.word(), "factor=" + values.get("factor"), "only slow has one");
        }
        if (values.containsKey("seconds") && kind.usualSeconds().isEmpty()) {
            report("no seconds for " + kind.word(), "seconds=" + values.get("seconds"),
                    "those that have them are " + choices(Arrays.stream(FaultKind.values())
                            .filter(other -> other.usualSeconds().isPresent()).toList()));
        }
        boolean passesMicrobatches = at.map(FaultPoint::hasMicrobatch)
                .orElseGet(() -> kind.points().stream().anyMatch(FaultPoint::hasMicrobatch));
        if (values.containsKey("microbatch") && !passesMicrobatches) {
            report("no microbatch " + at.map(point -> "at=" + point.word()).orElse("for " + kind.word())
                    + ", which comes once in a step", "microbatch=" + values.get("microbatch"), "take it out");
        }
    }

    private OptionalLong whole(String name, long least, long most) {
        String value = values.get(name);
        if (value == null) {
            return OptionalLong.empty();
        }
        Optional<BigDecimal> number = number(value);
        if (number.isPresent() && isWithin(number.get(), least, most)
                && number.get().stripTrailingZeros().scale() <= 0) {
            return OptionalLong.of(number.get().longValueExact());
        }
        String range = most == Long.MAX_VALUE
                ? (least == 0 ? " from 0" : " of at most 18 digits")
                : " from " + least + " to " + most;
        report(name + "= a whole number" + range, name + "=" + value, "");
        return OptionalLong.empty();
    }

    private OptionalDouble decimal(String name, double least, double most) {
        String value = values.get(name);
        if (value == null) {
            return OptionalDouble.empty();
        }
        Optional<BigDecimal> number = number(value);
        if (number.isPresent() && number.get().doubleValue() >= least && number.get().doubleValue() <= most) {
            return OptionalDouble.of(number.get().doubleValue());
        }
        report(name + "= a number from " + BigDecimal.valueOf(least).stripTrailingZeros().toPlainString() + " to "
                + BigDecimal.valueOf(most).stripTrailingZeros().toPlainString(), name + "=" + value, "");
        return OptionalDouble.empty();
    }

    private static boolean isWithin(BigDecimal number, long least, long most) {
        return number.compareTo(BigDecimal.valueOf(least)) >= 0 && number.compareTo(BigDecimal.valueOf(most)) <= 0;
    }

    private static Optional<BigDecimal> number(String value) {
        return NUMBER.matcher(value).matches() ? Optional.of(new BigDecimal(value)) : Optional.empty();
    }

    private static OptionalInt small(OptionalLong number) {
        return number.isPresent() ? OptionalInt.of(Math.toIntExact(number.getAsLong())) : OptionalInt.empty();
    }

    private static String choices(List<? extends Word> words) {
        return words.stream().map(Word::word).collect(Collectors.joining(" or "));
    }

    private void report(String expected, String found, String hint) {
        problems.add(new Problem(key, origin, expected,
                '"' + found + '"' + (text.strip().equals(found) ? "" : " in \"" + text.strip() + '"'), hint));
    }
}
