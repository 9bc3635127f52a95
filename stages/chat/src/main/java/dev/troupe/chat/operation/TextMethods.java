package dev.troupe.chat.operation;

import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Letters;
import dev.troupe.chat.value.Method;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;

/** The methods of Python's texts. */
public final class TextMethods {
    private TextMethods() {
    }

    /** Returns a method of a text; {@code null} if Python's texts have none of the name. */
    static Object of(String text, String name) {
        return switch (name) {
            case "strip", "lstrip", "rstrip" -> new Method(name, arguments -> {
                Arguments.Bound bound = arguments.bindPlaces(name, 0, 1);
                return Letters.stripped(text, bound.has(0) ? bound.text(0, null) : null, !name.equals("rstrip"),
                        !name.equals("lstrip"));
            });
            case "split", "rsplit" -> new Method(name, arguments -> {
                Arguments.Bound bound = arguments.bind(name, 0, "sep", "maxsplit");
                String separator = bound.has(0) ? bound.text(0, null) : null;
                int most = bound.size(1, -1);
                return TextParts.split(text, separator, most < 0 ? Integer.MAX_VALUE : most, name.equals("rsplit"));
            });
            case "splitlines" -> new Method(name,
                    arguments -> TextParts.lines(text, arguments.bind(name, 0, "keepends").flag(0, false)));
            case "partition", "rpartition" -> new Method(name, arguments -> TextParts.partition(text,
                    arguments.bindPlaces(name, 1, 1).text(0, null), name.equals("rpartition")));
            case "startswith", "endswith" -> new Method(name,
                    arguments -> begins(text, arguments.bindPlaces(name, 1, 3), name.equals("startswith")));
            case "find", "rfind", "index", "rindex" -> new Method(name,
                    arguments -> found(text, name, arguments.bindPlaces(name, 1, 3)));
            case "count" -> new Method(name, arguments -> counted(text, arguments.bindPlaces(name, 1, 3)));
            case "replace" -> new Method(name, arguments -> {
                Arguments.Bound bound = arguments.bindPlaces(name, 2, 3);
                return TextParts.replaced(text, bound.text(0, null), bound.text(1, null), bound.size(2, -1));
            });
            case "join" ->
                new Method(name, arguments -> joined(text, arguments.bindPlaces(name, 1, 1).values().getFirst()));
            case "format", "format_map" -> new Method(name, arguments -> BraceFormat.formatted(text, name, arguments));
            case "center", "ljust", "rjust" -> new Method(name, arguments -> {
                Arguments.Bound bound = arguments.bindPlaces(name, 1, 2);
                return padded(text, name, bound.size(0, 0), bound.text(1, " "));
            });
            case "zfill" ->
                new Method(name, arguments -> zeroFilled(text, arguments.bindPlaces(name, 1, 1).size(0, 0)));
            case "expandtabs" -> new Method(name,
                    arguments -> TextParts.withoutTabs(text, arguments.bind(name, 0, "tabsize").size(0, 8)));
            case "removeprefix", "removesuffix" -> new Method(name, arguments -> {
                String part = arguments.bindPlaces(name, 1, 1).text(0, null);
                return name.equals("removeprefix")
                        ? text.startsWith(part) ? text.substring(part.length()) : text
                        : text.endsWith(part) ? text.substring(0, text.length() - part.length()) : text;
            });
            case "encode", "maketrans", "translate", "casefold" -> throw new TemplateException(
                    "the method \"" + name + "\" of a text is not supported here");
            default -> simple(text, name);
        };
    }

    /** A method without arguments. */
    private static Object simple(String text, String name) {
        Predicate<String> test = switch (name) {
            case "isalnum" -> all -> Letters.areAll(all, Letters::isAlphanumeric);
            case "isalpha" -> all -> Letters.areAll(all, Character::isLetter);
            case "isdecimal" -> all -> Letters.areAll(all, Letters::isDecimal);
            case "isdigit" -> all -> Letters.areAll(all, Letters::isDigit);
            case "isnumeric" -> all -> Letters.areAll(all, Letters::isNumeric);
            case "isspace" -> all -> Letters.areAll(all, Letters::isSpace);
            case "isprintable" -> all -> all.codePoints().allMatch(Letters::isPrintable);
            case "isascii" -> all -> all.chars().allMatch(letter -> letter < 0x80);
            case "isidentifier" -> TextMethods::isIdentifier;
            case "istitle" -> Letters::isTitle;
            case "islower" -> Letters::isLower;
            case "isupper" -> Letters::isUpper;
            default -> null;
        };
        if (test != null) {
            return new Method(name, arguments -> {
                arguments.bindPlaces(name, 0, 0);
                return test.test(text);
            });
        }
        return switch (name) {
            case "upper", "lower", "title", "capitalize", "swapcase" -> new Method(name, arguments -> {
                arguments.bindPlaces(name, 0, 0);
                return switch (name) {
                    case "upper" -> Letters.upper(text);
                    case "lower" -> Letters.lower(text);
                    case "title" -> Letters.title(text);
                    case "capitalize" -> Letters.capitalized(text);
                    default -> Letters.swapped(text);
                };
            });
            default -> null;
        };
    }

    private static boolean isIdentifier(String text) {
        if (!text.chars().allMatch(letter -> letter < 0x80)) {
            throw new TemplateException("isidentifier of a text that is not ASCII is not supported here");
        }
        return !text.isEmpty() && !Character.isDigit(text.charAt(0))
                && text.chars().allMatch(letter -> letter == '_' || Character.isLetterOrDigit(letter));
    }

    private static boolean begins(String text, Arguments.Bound bound, boolean atStart) {
        String part = part(text, bound);
        Object looked = bound.values().getFirst();
        List<Object> several = looked instanceof Tuple tuple ? tuple.items() : List.of(bound.text(0, null));
        for (Object one : several) {
            if (!(one instanceof String end)) {
                throw new TemplateException("startswith and endswith need texts");
            }
            if (part != null && (atStart ? part.startsWith(end) : part.endsWith(end))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the part of a text that the second and third argument choose; {@code null} if it would begin after the end.
     */
    private static String part(String text, Arguments.Bound bound) {
        if (!bound.has(1) && !bound.has(2)) {
            return text;
        }
        if (bound.has(1) && bound.size(1, 0) > text.codePointCount(0, text.length())) {
            return null;
        }
        int[] ends = {start(text, bound, 1, 0), start(text, bound, 2, text.codePointCount(0, text.length()))};
        return ends[0] > ends[1] ? null : AttributeLookup.part(text, bound.at(1, None.NONE), bound.at(2, None.NONE));
    }

    private static int start(String text, Arguments.Bound bound, int index, int otherwise) {
        if (!bound.has(index)) {
            return otherwise;
        }
        int length = text.codePointCount(0, text.length());
        int place = bound.size(index, 0);
        return Math.clamp(place < 0 ? (long) place + length : place, 0, length);
    }

    private static Object found(String text, String name, Arguments.Bound bound) {
        String part = part(text, bound);
        String looked = bound.text(0, null);
        int index = part == null ? -1 : name.startsWith("r") ? part.lastIndexOf(looked) : part.indexOf(looked);
        if (index < 0 && name.endsWith("index")) {
            throw new TemplateException(name + ": the text is not there");
        }
        return BigInteger.valueOf(index < 0 ? -1 : start(text, bound, 1, 0) + part.codePointCount(0, index));
    }

    private static Object counted(String text, Arguments.Bound bound) {
        String part = part(text, bound);
        String looked = bound.text(0, null);
        if (part == null) {
            return BigInteger.ZERO;
        }
        return BigInteger.valueOf(looked.isEmpty()
                ? part.codePointCount(0, part.length()) + 1L
                : TextParts.count(part, looked));
    }

    private static String joined(String separator, Object value) {
        StringBuilder joined = new StringBuilder();
        Iterator<Object> elements = Iteration.of(value);
        for (int i = 0; elements.hasNext(); i++) {
            Bounds.checkTime();
            Object element = elements.next();
            if (!Types.isText(element)) {
                throw new TemplateException("join needs texts, found " + Types.described(element));
            }
            append(joined, i == 0 ? "" : separator, Printing.printed(element));
        }
        return joined.toString();
    }

    private static void append(StringBuilder text, String separator, String more) {
        Bounds.requireText((long) text.length() + separator.length() + more.length());
        text.append(separator).append(more);
    }

    /** Returns the printed values of a list with a separator between them. */
    public static String joinedPrinted(String separator, Iterator<Object> elements) {
        List<Object> texts = new ArrayList<>();
        while (elements.hasNext()) {
            Bounds.checkTime();
            Bounds.requireElements(texts.size() + 1L);
            texts.add(Printing.printed(elements.next()));
        }
        return joined(separator, texts);
    }

    /** Returns a text of at least a width: {@code center}, {@code ljust} or {@code rjust}. */
    public static String padded(String text, String method, int width, String fill) {
        if (fill.codePointCount(0, fill.length()) != 1) {
            throw new TemplateException(method + " fills with one character");
        }
        int missing = width - Math.min(width, text.codePointCount(0, text.length()));
        Bounds.requireText(text.length() + (long) missing * fill.length());
        if (missing <= 0) {
            return text;
        }
        int left = switch (method) {
            case "ljust" -> 0;
            case "rjust" -> missing;
            default -> missing / 2 + (missing & width & 1);
        };
        return fill.repeat(left) + text + fill.repeat(missing - left);
    }

    private static String zeroFilled(String text, int width) {
        boolean hasSign = text.startsWith("+") || text.startsWith("-");
        String filled = padded(hasSign ? text.substring(1) : text, "rjust", width - (hasSign ? 1 : 0), "0");
        return hasSign ? text.charAt(0) + filled : filled;
    }
}
