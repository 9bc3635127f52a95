package dev.troupe.chat.render;

import dev.troupe.chat.operation.Iteration;
import dev.troupe.chat.operation.Printing;
import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Callable;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.Method;
import dev.troupe.chat.value.Namespace;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.Opaque;
import dev.troupe.chat.value.PythonRange;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigInteger;
import java.time.LocalDateTime;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The functions that Jinja and transformers give a template. */
final class Functions {
    private Functions() {
    }

    /** Returns the functions by their names, with this time for those that need it. */
    static Map<String, Object> at(LocalDateTime now) {
        Map<String, Object> functions = new LinkedHashMap<>();
        add(functions, "range", Functions::range);
        add(functions, "dict", Functions::dict);
        add(functions, "namespace", arguments -> new Namespace(dict(arguments)));
        add(functions, "cycler", Cycler::new);
        add(functions, "joiner",
                arguments -> new Joiner(Printing.printed(arguments.bind("joiner", 0, "sep").at(0, ", "))));
        add(functions, "lipsum", _ -> {
            throw new TemplateException("the function \"lipsum\" is not supported here");
        });
        add(functions, "raise_exception", arguments -> {
            throw new TemplateException("it refuses the chat: "
                    + Printing.printed(arguments.bind("raise_exception", 1, "message").at(0, "")));
        });
        add(functions, "strftime_now",
                arguments -> TimeFormat.formatted(now, arguments.bind("strftime_now", 1, "format").text(0, null)));
        return functions;
    }

    private static void add(Map<String, Object> functions, String name, Function<Arguments, Object> body) {
        functions.put(name, new Method(name, body));
    }

    private static Object range(Arguments arguments) {
        Arguments.Bound bound = arguments.bindPlaces("range", 1, 3);
        BigInteger first = bound.integer(0, null);
        boolean isAlone = bound.values().get(1) == null;
        return PythonRange.of(isAlone ? BigInteger.ZERO : first, isAlone ? first : bound.integer(1, null),
                bound.integer(2, BigInteger.ONE));
    }

    private static Dict dict(Arguments arguments) {
        if (arguments.positional().size() > 1) {
            throw new TemplateException("dict and namespace take one value, and values with names");
        }
        Dict dict = new Dict();
        for (Object value : arguments.positional()) {
            if (value instanceof Undefined undefined) {
                throw undefined.failure();
            }
            if (value instanceof Dict other) {
                other.keys().forEach(key -> dict.put(key, other.get(key)));
                continue;
            }
            Iterator<Object> pairs = Iteration.of(value);
            while (pairs.hasNext()) {
                List<Object> pair = Iteration.list(pairs.next());
                if (pair.size() != 2) {
                    throw new TemplateException("dict needs pairs of keys and values");
                }
                dict.put(pair.get(0), pair.get(1));
            }
        }
        arguments.named().forEach(dict::put);
        return dict;
    }

    /** {@code cycler(a, b)}: its method {@code next} returns the values in a cycle. */
    private static final class Cycler implements Opaque {
        private final List<Object> items;
        private int at;

        Cycler(Arguments arguments) {
            this.items = arguments.positional();
            if (items.isEmpty() || !arguments.named().isEmpty()) {
                throw new TemplateException("cycler needs values, without names");
            }
        }

        @Override
        public Object attribute(String name) {
            return switch (name) {
                case "current" -> items.get(at);
                case "pos" -> BigInteger.valueOf(at);
                case "next" -> new Method(name, arguments -> {
                    arguments.bind(name, 0);
                    Object current = items.get(at);
                    at = (at + 1) % items.size();
                    return current;
                });
                case "reset" -> new Method(name, arguments -> {
                    arguments.bind(name, 0);
                    at = 0;
                    return None.NONE;
                });
                case "items" -> throw new TemplateException("\"items\" of a cycler is not supported here");
                default -> null;
            };
        }
    }

    /** {@code joiner(", ")}: the first call returns nothing, each other one the separator. */
    private static final class Joiner implements Callable {
        private final String separator;
        private boolean isUsed;

        Joiner(String separator) {
            this.separator = separator;
        }

        @Override
        public Object call(Arguments arguments) {
            arguments.bind("joiner", 0);
            String text = isUsed ? separator : "";
            isUsed = true;
            return text;
        }

        @Override
        public Object attribute(String name) {
            return switch (name) {
                case "sep" -> separator;
                case "used" -> Types.isTrue(isUsed);
                default -> null;
            };
        }
    }
}
