package dev.troupe.sharding;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The reader of a dictionary of parallel styles in Python: {@code name = { "key": Style(argument=value), ... }}, with
 * comments. Only strings, whole numbers, names, calls and tuples are read; nothing is executed.
 */
final class TorchDictionary {
    private static final Pattern TOKEN = Pattern.compile(
            "\\s+|#[^\\n]*|\"([^\"\\n]*)\"|'([^'\\n]*)'|([A-Za-z_][A-Za-z_0-9.]*)|(-?\\d{1,9})|([(){}=,:])|.",
            Pattern.DOTALL);
    private static final String END = "the end";
    private static final int DEEPEST = 20;

    private final List<Token> tokens = new ArrayList<>();
    private int next;
    private int depth;

    private enum Kind {
        STRING, NAME, NUMBER, SIGN, END
    }

    private record Token(Kind kind, String text, int line) {
        private boolean is(String sign) {
            return (kind == Kind.SIGN || kind == Kind.END) && text.equals(sign);
        }
    }

    /**
     * A value: a call with its arguments, a tuple with an empty name, or a name or a number without arguments.
     *
     * @param arguments by name, or by {@code 0}, {@code 1}, ... in their order
     */
    record Value(String name, SequencedMap<String, Value> arguments, int line) {
    }

    private TorchDictionary(String text) {
        Matcher matcher = TOKEN.matcher(text);
        int line = 1;
        while (matcher.find()) {
            String found = matcher.group();
            Kind kind = matcher.group(1) != null || matcher.group(2) != null
                    ? Kind.STRING
                    : matcher.group(3) != null
                            ? Kind.NAME
                            : matcher.group(4) != null ? Kind.NUMBER : matcher.group(5) != null ? Kind.SIGN : Kind.END;
            if (kind != Kind.END) {
                tokens.add(new Token(kind, kind == Kind.STRING ? found.substring(1, found.length() - 1) : found, line));
            } else if (!found.isBlank() && found.charAt(0) != '#') {
                throw new ShardingException(line, "a dictionary of styles has no " + found);
            }
            line += (int) found.chars().filter(character -> character == '\n').count();
        }
        tokens.add(new Token(Kind.END, END, line));
    }

    /**
     * Reads a dictionary.
     *
     * @throws ShardingException with the line at fault
     */
    static SequencedMap<String, Value> read(String text) {
        return new TorchDictionary(text).dictionary();
    }

    private SequencedMap<String, Value> dictionary() {
        if (peek().kind() == Kind.NAME) {
            next++;
            expect("=");
        }
        expect("{");
        SequencedMap<String, Value> entries = new LinkedHashMap<>();
        while (!peek().is("}")) {
            Token key = take(Kind.STRING, "a module's name in quotes");
            expect(":");
            if (entries.putIfAbsent(key.text(), value()) != null) {
                throw new ShardingException(key.line(), "the module " + key.text() + " has a style already: leave one");
            }
            if (!peek().is("}")) {
                expect(",");
            }
        }
        expect("}");
        if (peek().kind() != Kind.END) {
            throw new ShardingException(peek().line(), "expected the end after the dictionary, but found "
                    + peek().text());
        }
        return entries;
    }

    private Value value() {
        Token first = peek();
        if (++depth > DEEPEST) {
            throw new ShardingException(first.line(),
                    "a style has at most " + DEEPEST + " brackets inside one another");
        }
        SequencedMap<String, Value> arguments = new LinkedHashMap<>();
        String name = "";
        if (first.is("(")) {
            arguments = arguments();
        } else if (first.kind() == Kind.NAME || first.kind() == Kind.NUMBER) {
            next++;
            name = first.text().substring(first.text().lastIndexOf('.') + 1);
            if (peek().is("(")) {
                arguments = arguments();
            }
        } else {
            throw new ShardingException(first.line(), "expected a style such as ColwiseParallel(), but found "
                    + first.text());
        }
        depth--;
        return new Value(name, arguments, first.line());
    }

    private SequencedMap<String, Value> arguments() {
        expect("(");
        SequencedMap<String, Value> arguments = new LinkedHashMap<>();
        while (!peek().is(")")) {
            boolean isNamed = peek().kind() == Kind.NAME && tokens.get(next + 1).is("=");
            String name = isNamed ? take(Kind.NAME, "a name").text() : String.valueOf(arguments.size());
            if (isNamed) {
                expect("=");
            }
            int line = peek().line();
            if (arguments.putIfAbsent(name, value()) != null) {
                throw new ShardingException(line, "the argument " + name + " is given twice");
            }
            if (!peek().is(")")) {
                expect(",");
            }
        }
        expect(")");
        return arguments;
    }

    private Token peek() {
        return tokens.get(next);
    }

    private Token take(Kind kind, String expected) {
        Token token = peek();
        if (token.kind() != kind) {
            throw new ShardingException(token.line(), "expected " + expected + ", but found " + token.text());
        }
        next++;
        return token;
    }

    private void expect(String sign) {
        if (!peek().is(sign)) {
            throw new ShardingException(peek().line(), "expected " + sign + ", but found " + peek().text());
        }
        next++;
    }
}
