package dev.troupe.chat.syntax;

import dev.troupe.chat.syntax.Token.Kind;
import dev.troupe.chat.value.Letters;
import dev.troupe.chat.value.TemplateException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The lexer of templates, as Jinja's with {@code trim_blocks} and {@code lstrip_blocks}. It drops the end of a line after a
 * tag, and white space between the beginning of a line and a tag, unless the tag has {@code +}. With {@code -} it drops all
 * white space on that side.
 */
final class Lexer {
    private static final List<String> OPERATORS = List.of("//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%",
            "~",
            "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";");

    private final String source;
    private final List<Token> tokens = new ArrayList<>();
    /** The open brackets of an expression, as the signs that close them. */
    private final Deque<String> open = new ArrayDeque<>();
    private int at;
    private int line = 1;
    /** Whether the text read last ends with the end of a line. */
    private boolean beginsLine = true;

    private Lexer(String source) {
        this.source = source;
    }

    /** Returns the tokens of a template; the last one is the end. */
    static List<Token> tokens(String template) {
        String lines = template.replace("\r\n", "\n").replace('\r', '\n');
        // Jinja drops the end of a template's last line, but not of its output.
        Lexer lexer = new Lexer(lines.endsWith("\n") ? lines.substring(0, lines.length() - 1) : lines);
        while (lexer.at < lexer.source.length()) {
            lexer.text();
        }
        lexer.add(Kind.END, "");
        return lexer.tokens;
    }

    private void add(Kind kind, String text) {
        tokens.add(new Token(line, kind, text));
    }

    /** Advances to a place, counting lines. */
    private void skipTo(int end) {
        for (int i = at; i < end; i++) {
            if (source.charAt(i) == '\n') {
                line++;
            }
        }
        beginsLine = end > at ? source.charAt(end - 1) == '\n' : beginsLine;
        at = end;
    }

    private TemplateException failure(String message) {
        return TemplateException.inLine(line, message);
    }

    private boolean isAt(String sign) {
        return source.startsWith(sign, at);
    }

    /** Reads the text up to the next tag, and the tag. */
    private void text() {
        int tag = at;
        while (tag < source.length()
                && !(source.charAt(tag) == '{' && tag + 1 < source.length()
                        && "{%#".indexOf(source.charAt(tag + 1)) >= 0)) {
            tag++;
        }
        if (tag == source.length()) {
            add(Kind.DATA, source.substring(at));
            skipTo(tag);
            return;
        }
        char kind = source.charAt(tag + 1);
        data(tag, tag + 2, kind != '{');
        skipTo(tag + 2 + (isSign(tag + 2) ? 1 : 0));
        switch (kind) {
            case '{' -> expression(Kind.PRINT_BEGIN, Kind.PRINT_END);
            case '#' -> comment();
            default -> {
                int raw = rawEnd();
                if (raw >= 0) {
                    skipTo(raw);
                    raw();
                } else {
                    expression(Kind.TAG_BEGIN, Kind.TAG_END);
                }
            }
        }
    }

    private boolean isSign(int place) {
        return place < source.length() && (source.charAt(place) == '-' || source.charAt(place) == '+');
    }

    /** Adds the text before a tag; the sign of the tag determines which white space is dropped. */
    private void data(int end, int sign, boolean isTag) {
        int kept = end;
        if (source.startsWith("-", sign)) {
            while (kept > at && Letters.isSpace(source.codePointBefore(kept))) {
                kept--;
            }
        } else if (!source.startsWith("+", sign) && isTag) {
            int begin = end;
            while (begin > at && source.charAt(begin - 1) != '\n') {
                begin--;
            }
            boolean isBegin = begin > at || beginsLine;
            if (isBegin && source.substring(begin, end).codePoints().allMatch(Letters::isSpace)) {
                kept = begin;
            }
        }
        if (kept > at) {
            add(Kind.DATA, source.substring(at, kept));
        }
        skipTo(end);
    }

    private void comment() {
        int end = source.indexOf("#}", at);
        if (end < 0) {
            throw failure("a comment has no end");
        }
        char sign = end > at ? source.charAt(end - 1) : ' ';
        skipTo(end + 2);
        afterTag(sign == '-', sign != '+');
    }

    /** Drops white space after a tag. */
    private void afterTag(boolean strips, boolean trims) {
        if (strips) {
            skipSpace();
        } else if (trims && isAt("\n")) {
            skipTo(at + 1);
        }
    }

    private void skipSpace() {
        skipTo(spaceEnd(at));
    }

    private int spaceEnd(int from) {
        int end = from;
        while (end < source.length() && Letters.isSpace(source.charAt(end))) {
            end++;
        }
        return end;
    }

    /** Returns the end of {@code raw %}}, if it begins here; else -1. */
    private int rawEnd() {
        int word = spaceEnd(at);
        if (!source.startsWith("raw", word)) {
            return -1;
        }
        int end = spaceEnd(word + 3);
        if (source.startsWith("-%}", end)) {
            return spaceEnd(end + 3);
        }
        return source.startsWith("%}", end) ? end + 2 : -1;
    }

    private void raw() {
        for (int tag = source.indexOf("{%", at); tag >= 0; tag = source.indexOf("{%", tag + 2)) {
            int word = spaceEnd(tag + 2 + (isSign(tag + 2) ? 1 : 0));
            int end = source.startsWith("endraw", word) ? spaceEnd(word + 6) : -1;
            if (end < 0) {
                continue;
            }
            boolean hasSign = isSign(end);
            if (source.startsWith("%}", hasSign ? end + 1 : end)) {
                data(tag, tag + 2, true);
                char sign = source.charAt(end);
                skipTo(end + (hasSign ? 3 : 2));
                afterTag(sign == '-', sign != '+');
                return;
            }
        }
        throw failure("{% raw %} has no end");
    }

    private void expression(Kind begin, Kind end) {
        add(begin, "");
        open.clear();
        String sign = end == Kind.PRINT_END ? "}}" : "%}";
        while (at < source.length()) {
            if (open.isEmpty()) {
                boolean strips = isAt("-" + sign);
                boolean keeps = end == Kind.TAG_END && isAt("+" + sign);
                if (strips || keeps || isAt(sign)) {
                    add(end, "");
                    skipTo(at + (strips || keeps ? 3 : 2));
                    afterTag(strips, end == Kind.TAG_END && !keeps);
                    return;
                }
            }
            token();
        }
    }

    private void token() {
        char sign = source.charAt(at);
        if (Letters.isSpace(sign)) {
            skipSpace();
        } else if (sign >= '0' && sign <= '9') {
            number();
        } else if (sign == '_' || Character.isLetter(source.codePointAt(at))) {
            name();
        } else if (sign == '"' || sign == '\'') {
            string(sign);
        } else {
            operator();
        }
    }

    private void number() {
        NumberLiteral number = NumberLiteral.at(source, at);
        add(number.isFloat() ? Kind.FLOAT : Kind.INTEGER, number.digits());
        skipTo(number.end());
    }

    private void name() {
        int end = at;
        while (end < source.length()
                && (source.charAt(end) == '_' || Character.isLetterOrDigit(source.codePointAt(end)))) {
            end += Character.charCount(source.codePointAt(end));
        }
        add(Kind.NAME, source.substring(at, end));
        skipTo(end);
    }

    private void string(char quote) {
        int end = at + 1;
        while (end < source.length() && source.charAt(end) != quote) {
            end += source.charAt(end) == '\\' ? 2 : 1;
        }
        if (end >= source.length()) {
            throw failure("a string has no end");
        }
        try {
            add(Kind.STRING, StringLiteral.unescaped(source.substring(at + 1, end)));
        } catch (TemplateException wrong) {
            throw wrong.at(line);
        }
        skipTo(end + 1);
    }

    private void operator() {
        String sign = OPERATORS.stream().filter(this::isAt).findFirst()
                .orElseThrow(
                        () -> failure("unexpected character \"" + Character.toString(source.codePointAt(at)) + "\""));
        switch (sign) {
            case "{" -> open.push("}");
            case "(" -> open.push(")");
            case "[" -> open.push("]");
            case "}", ")", "]" -> {
                String expected = open.poll();
                if (!sign.equals(expected)) {
                    throw failure("unexpected \"" + sign + "\""
                            + (expected == null ? "" : ", expected \"" + expected + "\""));
                }
            }
            default -> {
            }
        }
        add(Kind.OPERATOR, sign);
        skipTo(at + sign.length());
    }
}
