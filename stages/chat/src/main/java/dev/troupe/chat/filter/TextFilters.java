package dev.troupe.chat.filter;

import dev.troupe.chat.filter.Filters.Filter;
import dev.troupe.chat.operation.Arithmetic;
import dev.troupe.chat.operation.AttributeLookup;
import dev.troupe.chat.operation.Iteration;
import dev.troupe.chat.operation.Json;
import dev.troupe.chat.operation.PercentFormat;
import dev.troupe.chat.operation.Printing;
import dev.troupe.chat.operation.TextMethods;
import dev.troupe.chat.operation.TextParts;
import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.Letters;
import dev.troupe.chat.value.Markup;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The filters that make texts. */
final class TextFilters {
    private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~";

    private TextFilters() {
    }

    static void addTo(Map<String, Filter> filters) {
        filters.put("upper", withoutArguments("upper", Letters::upper));
        filters.put("lower", withoutArguments("lower", Letters::lower));
        filters.put("capitalize", withoutArguments("capitalize", Letters::capitalized));
        filters.put("title", (value, arguments) -> {
            arguments.bind("title", 0);
            return title(Printing.printed(value));
        });
        filters.put("trim", TextFilters::trim);
        filters.put("string", (value, arguments) -> {
            arguments.bind("string", 0);
            return value instanceof Markup ? value : Printing.printed(value);
        });
        filters.put("replace", (value, arguments) -> {
            Arguments.Bound bound = arguments.bind("replace", 2, "old", "new", "count");
            return TextParts.replaced(Printing.printed(value), Printing.printed(bound.at(0, "")),
                    Printing.printed(bound.at(1, "")), bound.has(2) ? bound.size(2, -1) : -1);
        });
        filters.put("center", (value, arguments) -> {
            int width = arguments.bind("center", 0, "width").size(0, 80);
            return onText(value, text -> TextMethods.padded(text, "center", width, " "));
        });
        filters.put("indent", TextFilters::indent);
        filters.put("truncate", TextFilters::truncate);
        filters.put("wordcount", (value, arguments) -> {
            arguments.bind("wordcount", 0);
            return words(Printing.printed(value));
        });
        filters.put("format", TextFilters::format);
        filters.put("join", TextFilters::join);
        filters.put("tojson", TextFilters::json);
        filters.put("urlencode", TextFilters::urlEncoded);
        Filter escape = (value, arguments) -> {
            arguments.bind("escape", 0);
            return value instanceof Markup ? value : Markup.escaped(Printing.printed(value));
        };
        filters.put("escape", escape);
        filters.put("e", escape);
        filters.put("forceescape", (value, arguments) -> {
            arguments.bind("forceescape", 0);
            return Markup.escaped(Printing.printed(value));
        });
        filters.put("safe", (value, arguments) -> {
            arguments.bind("safe", 0);
            return new Markup(Printing.printed(value));
        });
    }

    private static Filter withoutArguments(String name, UnaryOperator<String> change) {
        return (value, arguments) -> {
            arguments.bind(name, 0);
            return onText(value, change);
        };
    }

    /** Keeps the mark of a text that is marked as safe. */
    private static Object onText(Object value, UnaryOperator<String> change) {
        String changed = change.apply(Printing.printed(value));
        return value instanceof Markup ? new Markup(changed) : changed;
    }

    /** Returns the text of a value that may not be marked as safe, since additions would have to be escaped. */
    private static String plain(String filter, Object value) {
        if (value instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (!(value instanceof String text)) {
            throw new TemplateException("the filter \"" + filter + "\" needs a text, found " + Types.described(value));
        }
        return text;
    }

    private static Object trim(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("trim", 0, "chars");
        if (bound.has(0) && value instanceof Markup) {
            return plain("trim", value);
        }
        String signs = bound.has(0) ? bound.text(0, null) : null;
        return onText(value, text -> Letters.stripped(text, signs, true, true));
    }

    /** Begins each word with a capital letter; words end at white space, hyphens and opening brackets. */
    private static String title(String text) {
        StringBuilder title = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            int begin = at;
            boolean isBetween = isBetweenWords(text.charAt(at));
            while (at < text.length() && isBetweenWords(text.charAt(at)) == isBetween) {
                at++;
            }
            int first = text.offsetByCodePoints(begin, 1);
            title.append(Letters.upper(text.substring(begin, first))).append(Letters.lower(text.substring(first, at)));
        }
        return title.toString();
    }

    private static boolean isBetweenWords(char letter) {
        return "-({[<".indexOf(letter) >= 0 || Letters.isSpace(letter);
    }

    private static Object indent(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("indent", 0, "width", "first", "blank");
        Object width = bound.at(0, BigInteger.valueOf(4));
        String indent = width instanceof String text ? text : (String) Arithmetic.of("*", " ", Types.index(width));
        List<Object> lines = TextParts.lines(plain("indent", value) + "\n", false);
        boolean indentsBlank = bound.isTrue(2, false);
        Bounds.requireText(((String) value).length() + (long) indent.length() * (lines.size() + 1L));
        StringBuilder text = new StringBuilder(bound.isTrue(1, false) ? indent : "");
        for (int i = 0; i < lines.size(); i++) {
            String line = (String) lines.get(i);
            text.append(i == 0 ? "" : "\n").append(i > 0 && (indentsBlank || !line.isEmpty()) ? indent : "")
                    .append(line);
        }
        return text.toString();
    }

    private static Object truncate(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("truncate", 0, "length", "killwords", "end", "leeway");
        int length = bound.size(0, 255);
        String end = bound.text(2, "...");
        int leeway = bound.has(3) ? bound.size(3, 5) : 5;
        int endLength = Iteration.length(end);
        if (length < endLength || leeway < 0) {
            throw new TemplateException(
                    "truncate needs a length of at least its end, and a leeway that is not negative");
        }
        if (Iteration.length(value) <= (long) length + leeway) {
            return value;
        }
        String text = plain("truncate", value);
        String cut = (String) AttributeLookup.slice(text, None.NONE, BigInteger.valueOf((long) length - endLength),
                None.NONE);
        int space = bound.isTrue(1, false) ? -1 : cut.lastIndexOf(' ');
        return (space < 0 ? cut : cut.substring(0, space)) + end;
    }

    private static BigInteger words(String text) {
        int words = 0;
        boolean isInside = false;
        for (int code : text.codePoints().toArray()) {
            boolean isWord = code == '_' || Letters.isAlphanumeric(code);
            words += isWord && !isInside ? 1 : 0;
            isInside = isWord;
        }
        return BigInteger.valueOf(words);
    }

    private static Object format(Object value, Arguments arguments) {
        if (value instanceof Markup || !arguments.positional().isEmpty() && !arguments.named().isEmpty()) {
            throw new TemplateException(
                    "format takes either values or values with names, and no text that is marked as safe");
        }
        if (arguments.named().isEmpty()) {
            return PercentFormat.formatted(Printing.printed(value), Tuple.of(arguments.positional()));
        }
        Dict named = new Dict();
        arguments.named().forEach(named::put);
        return PercentFormat.formatted(Printing.printed(value), named);
    }

    private static Object join(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("join", 0, "d", "attribute");
        Iterator<Object> elements = Iteration.of(value);
        return TextMethods.joinedPrinted(Printing.printed(bound.at(0, "")),
                bound.has(1) ? Iteration.mapped(elements, AttributePath.of(bound.at(1, null))).elements() : elements);
    }

    private static Object json(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("tojson", 0, "ensure_ascii", "indent", "separators", "sort_keys");
        String indent = !bound.has(1)
                ? null
                : bound.at(1, null) instanceof String text
                        ? text
                        : (String) Arithmetic.of("*", " ", Types.index(bound.at(1, null)));
        String itemSeparator = indent == null ? ", " : ",";
        String keySeparator = ": ";
        if (bound.has(2)) {
            List<Object> separators = new ArrayList<>(Iteration.list(bound.at(2, null)));
            if (separators.size() != 2 || !separators.stream().allMatch(String.class::isInstance)) {
                throw new TemplateException("the separators of tojson have to be two texts");
            }
            itemSeparator = (String) separators.get(0);
            keySeparator = (String) separators.get(1);
        }
        return new Json(bound.isTrue(0, false), indent, itemSeparator, keySeparator, bound.isTrue(3, false))
                .text(value);
    }

    private static Object urlEncoded(Object value, Arguments arguments) {
        arguments.bind("urlencode", 0);
        if (Types.isText(value) || !Iteration.isIterable(value)) {
            return quoted(Printing.printed(value), false);
        }
        Iterator<Object> items = Iteration.of(value instanceof Dict dict ? dict.items() : value);
        List<Object> parts = new ArrayList<>();
        while (items.hasNext()) {
            List<Object> pair = Iteration.list(items.next());
            if (pair.size() != 2) {
                throw new TemplateException("urlencode needs pairs");
            }
            parts.add(quoted(Printing.printed(pair.get(0)), true) + "=" + quoted(Printing.printed(pair.get(1)), true));
        }
        return TextMethods.joinedPrinted("&", parts.iterator());
    }

    private static String quoted(String text, boolean isQuery) {
        Bounds.requireText(text.length() * 9L);
        StringBuilder quoted = new StringBuilder();
        for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
            char letter = (char) (one & 0xff);
            if (UNRESERVED.indexOf(letter) >= 0 || letter == '/' && !isQuery) {
                quoted.append(letter);
            } else {
                quoted.append(letter == ' ' && isQuery ? "+" : "%" + HexFormat.of().withUpperCase().toHexDigits(one));
            }
        }
        return quoted.toString();
    }
}
