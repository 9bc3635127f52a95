package dev.troupe.chat.operation;

import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Letters;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import java.util.ArrayList;
import java.util.List;

/** Python's methods that divide a text. */
public final class TextParts {
    private TextParts() {
    }

    private static void add(List<Object> parts, String part) {
        Bounds.requireElements(parts.size() + 1L);
        parts.add(part);
    }

    /** {@code split} and {@code rsplit}; without a separator words are split at white space. */
    static List<Object> split(String text, String separator, int most, boolean fromRight) {
        if (separator == null) {
            return fromRight ? wordsFromRight(text, most) : words(text, most);
        }
        if (separator.isEmpty()) {
            throw new TemplateException("split needs a separator that is not empty");
        }
        List<Object> parts = new ArrayList<>();
        if (fromRight) {
            int end = text.length();
            for (int at = text.lastIndexOf(separator); at >= 0 && parts.size() < most;) {
                add(parts, text.substring(at + separator.length(), end));
                end = at;
                at = end < separator.length() ? -1 : text.lastIndexOf(separator, end - separator.length());
            }
            add(parts, text.substring(0, end));
            return new ArrayList<>(parts.reversed());
        }
        int from = 0;
        for (int at = text.indexOf(separator); at >= 0 && parts.size() < most; at = text.indexOf(separator, from)) {
            add(parts, text.substring(from, at));
            from = at + separator.length();
        }
        add(parts, text.substring(from));
        return parts;
    }

    private static List<Object> words(String text, int most) {
        List<Object> words = new ArrayList<>();
        int at = 0;
        while (true) {
            while (at < text.length() && Letters.isSpace(text.charAt(at))) {
                at++;
            }
            if (at == text.length()) {
                return words;
            }
            if (words.size() >= most) {
                add(words, text.substring(at));
                return words;
            }
            int begin = at;
            while (at < text.length() && !Letters.isSpace(text.charAt(at))) {
                at++;
            }
            add(words, text.substring(begin, at));
        }
    }

    private static List<Object> wordsFromRight(String text, int most) {
        List<Object> words = new ArrayList<>();
        int at = text.length();
        while (true) {
            while (at > 0 && Letters.isSpace(text.charAt(at - 1))) {
                at--;
            }
            if (at == 0) {
                return new ArrayList<>(words.reversed());
            }
            if (words.size() >= most) {
                add(words, text.substring(0, at));
                return new ArrayList<>(words.reversed());
            }
            int end = at;
            while (at > 0 && !Letters.isSpace(text.charAt(at - 1))) {
                at--;
            }
            add(words, text.substring(at, end));
        }
    }

    public static List<Object> lines(String text, boolean keepsEnds) {
        List<Object> lines = new ArrayList<>();
        int at = 0;
        while (at < text.length()) {
            int end = at;
            while (end < text.length() && !Letters.isLineEnd(text.charAt(end))) {
                end++;
            }
            int next = end == text.length() ? end : end + (text.startsWith("\r\n", end) ? 2 : 1);
            add(lines, text.substring(at, keepsEnds ? next : end));
            at = next;
        }
        return lines;
    }

    static Tuple partition(String text, String separator, boolean fromRight) {
        if (separator.isEmpty()) {
            throw new TemplateException("partition needs a separator that is not empty");
        }
        int at = fromRight ? text.lastIndexOf(separator) : text.indexOf(separator);
        if (at < 0) {
            return fromRight ? Tuple.of("", "", text) : Tuple.of(text, "", "");
        }
        return Tuple.of(text.substring(0, at), separator, text.substring(at + separator.length()));
    }

    /** Returns the number of occurrences of a text that is not empty in another, without overlaps. */
    static long count(String text, String looked) {
        long count = 0;
        for (int at = text.indexOf(looked); at >= 0; at = text.indexOf(looked, at + looked.length())) {
            count++;
        }
        return count;
    }

    /** Replaces a text by another, at most this number of times; always if {@code most} is negative. */
    public static String replaced(String text, String old, String other, int most) {
        long found = old.isEmpty() ? text.codePointCount(0, text.length()) + 1L : count(text, old);
        long times = most < 0 ? found : Math.min(found, most);
        Bounds.requireText(text.length() + times * (other.length() - old.length()));
        StringBuilder replaced = new StringBuilder();
        int from = 0;
        for (long i = 0; i < times; i++) {
            if (old.isEmpty()) {
                int end = i == 0 ? 0 : from + Character.charCount(text.codePointAt(from));
                replaced.append(text, from, end).append(other);
                from = end;
            } else {
                int at = text.indexOf(old, from);
                replaced.append(text, from, at).append(other);
                from = at + old.length();
            }
        }
        return replaced.append(text, from, text.length()).toString();
    }

    static String withoutTabs(String text, int size) {
        StringBuilder expanded = new StringBuilder();
        int column = 0;
        for (int code : text.codePoints().toArray()) {
            if (code == '\t') {
                int spaces = size > 0 ? size - column % size : 0;
                Bounds.requireText((long) expanded.length() + spaces);
                expanded.repeat(' ', spaces);
                column += spaces;
            } else {
                expanded.appendCodePoint(code);
                column = code == '\n' || code == '\r' ? 0 : column + 1;
            }
        }
        return expanded.toString();
    }
}
