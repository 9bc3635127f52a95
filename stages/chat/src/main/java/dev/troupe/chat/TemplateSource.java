package dev.troupe.chat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Predicate;

/**
 * A template as Jinjava takes it. {@code x[::-1]}, which Qwen's templates have and Jinjava does not parse, becomes {@code
 * x|reverse}, which binds as tightly and gives a loop the same. The value of a named argument, as in {@code f(a=b - 1)},
 * gets parentheses, since Jinjava binds the name to its first term alone. The ends of a map in a map are written apart.
 * White space before a statement goes where the statement begins its line; Jinjava would take it off behind a word too.
 * Filters and tests that Jinjava does not know, which it passes over in silence, are found.
 */
final class TemplateSource {
    private static final String SLICE = "[::-1]";
    private static final String FILTER = "|reverse";

    private final String template;
    private final Predicate<String> isFilter;
    private final Predicate<String> isTest;
    private final StringBuilder result = new StringBuilder();
    /** For each bracket that is open, whether it has a value in parentheses of ours. */
    private final Deque<Boolean> brackets = new ArrayDeque<>();
    private int at;

    private TemplateSource(String template, Predicate<String> isFilter, Predicate<String> isTest) {
        this.template = template;
        this.isFilter = isFilter;
        this.isTest = isTest;
    }

    /**
     * Rewrites the expressions and statements of a template, and none of its texts and comments.
     *
     * @param isFilter
     *            whether there is a filter of a name
     * @param isTest
     *            whether there is a test of a name
     * @throws IllegalArgumentException
     *             where the template has another; the message names the line
     */
    static String rewritten(String template, Predicate<String> isFilter, Predicate<String> isTest) {
        TemplateSource source = new TemplateSource(template, isFilter, isTest);
        while (source.at < template.length()) {
            if (template.startsWith("{#", source.at)) {
                source.stripLine();
                source.copyThrough("#}");
            } else if (template.startsWith("{%", source.at)) {
                source.stripLine();
                source.expression();
            } else if (template.startsWith("{{", source.at)) {
                source.expression();
            } else {
                source.copy(1);
            }
        }
        return source.result.toString();
    }

    private void copy(int count) {
        int end = Math.min(template.length(), at + count);
        result.append(template, at, end);
        at = end;
    }

    private void copyThrough(String end) {
        int found = template.indexOf(end, at);
        copy((found < 0 ? template.length() : found + end.length()) - at);
    }

    /** Takes off the white space before a statement that begins its line, as Jinja's {@code lstrip_blocks} does. */
    private void stripLine() {
        int begin = at;
        while (begin > 0 && (template.charAt(begin - 1) == ' ' || template.charAt(begin - 1) == '\t')) {
            begin--;
        }
        if ((begin == 0 || template.charAt(begin - 1) == '\n') && !template.startsWith("+", at + 2)) {
            result.setLength(result.length() - (at - begin));
        }
    }

    private void expression() {
        copy(template.startsWith("-", at + 2) ? 3 : 2);
        brackets.clear();
        boolean isDefinition = wordAfter(at).equals("macro");
        while (at < template.length() && !template.startsWith("%}", at)
                && !(template.startsWith("}}", at) && brackets.isEmpty())) {
            char sign = template.charAt(at);
            if (sign == '"' || sign == '\'') {
                quoted(sign);
            } else if (template.startsWith(SLICE, at)) {
                result.append(FILTER);
                at += SLICE.length();
            } else if (sign == '|') {
                check("filter", isFilter, wordAfter(at + 1));
                copy(1);
            } else if (Character.isJavaIdentifierStart(sign)) {
                word();
            } else if (!isDefinition) {
                bracketed(sign);
            } else {
                copy(1);
            }
        }
    }

    private void bracketed(char sign) {
        boolean closes = sign == ',' || sign == ')';
        if (closes && !brackets.isEmpty() && brackets.peek()) {
            result.append(')');
            brackets.pop();
            brackets.push(false);
        }
        switch (sign) {
            case '(', '[', '{' -> brackets.push(false);
            case ')', ']', '}' -> brackets.poll();
            default -> {
            }
        }
        boolean names = sign == '=' && !brackets.isEmpty() && !template.startsWith("=", at + 1)
                && "=!<>".indexOf(template.charAt(at - 1)) < 0;
        copy(1);
        if (sign == '}' && template.startsWith("}", at)) {
            result.append(' '); // two are the end for Jinjava
        }
        if (names) {
            result.append('(');
            brackets.pop();
            brackets.push(true);
        }
    }

    private void quoted(char quote) {
        copy(1);
        while (at < template.length() && template.charAt(at) != quote) {
            copy(template.charAt(at) == '\\' ? 2 : 1);
        }
        copy(1);
    }

    private void word() {
        String word = wordAfter(at);
        if (word.equals("is") && template.charAt(at - 1) != '.') {
            int begin = at + word.length();
            String test = wordAfter(begin);
            check("test", isTest, test.equals("not") ? wordAfter(template.indexOf(test, begin) + test.length()) : test);
        }
        copy(word.length());
    }

    /** The word that begins at a place or after white space there; empty where none does. */
    private String wordAfter(int place) {
        int begin = place;
        while (begin < template.length() && Character.isWhitespace(template.charAt(begin))) {
            begin++;
        }
        int end = begin;
        while (end < template.length() && Character.isJavaIdentifierPart(template.charAt(end))) {
            end++;
        }
        return template.substring(begin, end);
    }

    private void check(String kind, Predicate<String> isKnown, String name) {
        if (!isKnown.test(name)) {
            throw new IllegalArgumentException(
                    "line " + (1 + template.substring(0, at).chars().filter(sign -> sign == '\n').count())
                            + " of the chat template has the " + kind + " \"" + name + "\", which is not known");
        }
    }
}
