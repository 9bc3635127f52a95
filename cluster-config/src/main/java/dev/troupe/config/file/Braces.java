package dev.troupe.config.file;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The search for an unclosed brace, for which the parser reports only that the file ends too early. */
final class Braces {
    /** Texts and comments, in which a brace does not count, the indent of a line, and braces. */
    private static final Pattern TOKEN = Pattern
            .compile("(?s)\"\"\".*?\"\"\"+|\"(?:\\\\.|[^\"\\\\\\n])*\"|(?:#|//)[^\\n]*|\\n[ \\t]*|[{}]");

    private Braces() {
    }

    private record Opening(int line, int indent) {
    }

    /**
     * Returns the line, from 1, of the brace that is not closed: the last open one, unless the indent of a closing
     * brace shows that it closes an outer brace.
     *
     * @return empty if all braces are closed
     */
    static OptionalInt unclosed(String text) {
        Deque<Opening> open = new ArrayDeque<>();
        OptionalInt passedOver = OptionalInt.empty();
        int line = 0;
        int indent = 0;
        int lineStart = 0;
        String lines = "\n" + text;
        Matcher tokens = TOKEN.matcher(lines);
        while (tokens.find()) {
            String token = tokens.group();
            switch (token.charAt(0)) {
                case '\n' -> {
                    line++;
                    indent = token.length() - 1;
                    lineStart = tokens.end();
                }
                case '{' -> open.push(new Opening(line, indent));
                case '}' -> {
                    Opening closed = open.poll();
                    boolean isFirst = tokens.start() == lineStart;
                    if (closed != null && isFirst && indent < closed.indent() && passedOver.isEmpty()) {
                        passedOver = OptionalInt.of(closed.line());
                    }
                }
                default -> line += (int) token.chars().filter(sign -> sign == '\n').count();
            }
        }
        if (open.isEmpty()) {
            return OptionalInt.empty();
        }
        return passedOver.isPresent() ? passedOver : OptionalInt.of(open.peek().line());
    }
}
