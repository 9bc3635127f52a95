package dev.troupe.chat;

import com.hubspot.jinjava.interpret.InterpretException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;

/** The methods of Python's texts that templates use. */
final class PythonText {
    private PythonText() {
    }

    /** Calls a method; fails where there is none of that name and number of arguments. */
    static Object call(String text, String method, Object[] arguments) {
        String first = arguments.length > 0 && arguments[0] != null ? arguments[0].toString() : null;
        String second = arguments.length > 1 && arguments[1] != null ? arguments[1].toString() : null;
        return switch (method + "/" + arguments.length) {
            case "strip/0", "strip/1" -> stripped(text, first, true, true);
            case "lstrip/0", "lstrip/1" -> stripped(text, first, true, false);
            case "rstrip/0", "rstrip/1" -> stripped(text, first, false, true);
            case "split/0" -> words(text);
            case "split/1" -> split(text, first, Integer.MAX_VALUE);
            case "split/2" -> split(text, first, ((Number) arguments[1]).intValue());
            case "startswith/1" -> text.startsWith(first);
            case "endswith/1" -> text.endsWith(first);
            case "replace/2" -> replaced(text, first, second);
            case "upper/0" -> text.toUpperCase(Locale.ROOT);
            case "lower/0" -> text.toLowerCase(Locale.ROOT);
            case "title/0" -> title(text);
            case "capitalize/0" -> text.isEmpty()
                    ? text
                    : text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1).toLowerCase(Locale.ROOT);
            case "find/1" -> (long) text.indexOf(first);
            case "count/1" -> (long) split(text, first, Integer.MAX_VALUE).size() - 1;
            case "join/1" -> joined(text, (List<?>) arguments[0]);
            case "splitlines/0" -> text.lines().toList();
            case "isdigit/0" -> !text.isEmpty() && text.codePoints().allMatch(Character::isDigit);
            default -> throw new InterpretException(
                    "a text has no method " + method + " of " + arguments.length + " arguments here");
        };
    }

    private static String stripped(String text, String signs, boolean left, boolean right) {
        IntPredicate isCut = signs == null
                ? code -> Character.isWhitespace(code) || Character.isSpaceChar(code)
                : code -> signs.indexOf(code) >= 0;
        int begin = 0;
        int end = text.length();
        while (left && begin < end && isCut.test(text.charAt(begin))) {
            begin++;
        }
        while (right && end > begin && isCut.test(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(begin, end);
    }

    private static List<String> words(String text) {
        return Arrays.stream(text.split("\\s+")).filter(word -> !word.isEmpty()).toList();
    }

    private static List<String> split(String text, String separator, int most) {
        if (separator == null || separator.isEmpty()) {
            throw new InterpretException("split needs a separator that is not empty");
        }
        List<String> parts = new ArrayList<>();
        int from = 0;
        for (int at = text.indexOf(separator); at >= 0 && (most < 0 || parts.size() < most);) {
            if (parts.size() == ChatTemplate.MOST_ELEMENTS) {
                throw new InterpretException("a text would be split into too many");
            }
            parts.add(text.substring(from, at));
            from = at + separator.length();
            at = text.indexOf(separator, from);
        }
        parts.add(text.substring(from));
        return parts;
    }

    /** Puts a text in place of another. */
    static String replaced(String text, String old, String other) {
        long found = old.isEmpty() ? text.length() + 1L : split(text, old, Integer.MAX_VALUE).size() - 1L;
        requireShort(text.length() + found * (other.length() - old.length()));
        return text.replace(old, other);
    }

    private static String joined(String separator, List<?> parts) {
        List<String> texts = parts.stream().map(String::valueOf).toList();
        requireShort(texts.stream().mapToLong(text -> text.length() + (long) separator.length()).sum());
        return String.join(separator, texts);
    }

    private static void requireShort(long length) {
        if (length > ChatTemplate.LONGEST_TEXT) {
            throw new InterpretException("a text would be longer than " + ChatTemplate.LONGEST_TEXT + " characters");
        }
    }

    private static String title(String text) {
        StringBuilder titled = new StringBuilder();
        boolean isInside = false;
        for (char letter : text.toCharArray()) {
            titled.append(isInside ? Character.toLowerCase(letter) : Character.toUpperCase(letter));
            isInside = Character.isLetter(letter);
        }
        return titled.toString();
    }
}
