package dev.troupe.chat.filter;

import dev.troupe.chat.filter.Filters.Filter;
import dev.troupe.chat.operation.Arithmetic;
import dev.troupe.chat.operation.Iteration;
import dev.troupe.chat.operation.PercentFormat;
import dev.troupe.chat.operation.Printing;
import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.Numbers;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Iterator;
import java.util.Map;

/** The filters that make numbers, or texts of them. */
final class NumberFilters {
    private static final BigInteger TEN = BigInteger.TEN;

    private NumberFilters() {
    }

    static void addTo(Map<String, Filter> filters) {
        filters.put("abs", (value, arguments) -> {
            arguments.bind("abs", 0);
            return value instanceof Double number ? Math.abs(number) : (Object) Types.index(value).abs();
        });
        filters.put("int", NumberFilters::whole);
        filters.put("float", NumberFilters::floating);
        filters.put("round", NumberFilters::round);
        filters.put("sum", NumberFilters::sum);
        filters.put("filesizeformat", NumberFilters::size);
    }

    private static Object whole(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("int", 0, "default", "base");
        Object otherwise = bound.at(0, BigInteger.ZERO);
        if (Types.isText(value)) {
            String text = Printing.printed(value);
            int base = bound.size(1, 10);
            BigInteger number = base == 0 || base >= 2 && base <= 36 ? Numbers.parsedInteger(text, base) : null;
            Double fraction = number == null ? Numbers.parsedFloat(text) : null;
            boolean hasWhole = fraction != null && !fraction.isNaN() && !fraction.isInfinite();
            return number != null ? number : hasWhole ? Numbers.truncated(fraction) : otherwise;
        }
        return switch (value) {
            case Double number when number.isNaN() -> otherwise;
            case Double number -> Numbers.truncated(number);
            case Undefined undefined -> throw undefined.failure();
            default -> Types.integer(value) == null ? otherwise : Types.integer(value);
        };
    }

    private static Object floating(Object value, Arguments arguments) {
        Object otherwise = arguments.bind("float", 0, "default").at(0, 0.0);
        if (Types.isText(value)) {
            Double number = Numbers.parsedFloat(Printing.printed(value));
            return number == null ? otherwise : number;
        }
        if (value instanceof Undefined undefined) {
            throw undefined.failure();
        }
        return Types.isNumber(value) ? Numbers.asFloat(value) : otherwise;
    }

    private static Object round(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("round", 0, "precision", "method");
        Object places = bound.at(0, BigInteger.ZERO);
        String method = bound.text(1, "common");
        if (!Types.isNumber(value)) {
            throw new TemplateException("round needs a number, found " + Types.described(value));
        }
        if (method.equals("common")) {
            return Numbers.rounded(value, places);
        }
        RoundingMode mode = switch (method) {
            case "ceil" -> RoundingMode.CEILING;
            case "floor" -> RoundingMode.FLOOR;
            default -> throw new TemplateException("the method of round is common, ceil or floor");
        };
        if (places == None.NONE) {
            throw new TemplateException("round needs a precision");
        }
        Object factor = Arithmetic.of("**", TEN, places);
        Object scaled = Arithmetic.of("*", value, factor);
        BigInteger whole = scaled instanceof Double number
                ? exact(number).setScale(0, mode)
                        .toBigInteger()
                : Types.index(scaled);
        return Arithmetic.of("/", whole, factor);
    }

    private static BigDecimal exact(double number) {
        Numbers.truncated(number); // refuses what is infinite
        return new BigDecimal(number);
    }

    private static Object sum(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("sum", 0, "attribute", "start");
        Object sum = bound.at(1, BigInteger.ZERO);
        if (Types.isText(sum)) {
            throw new TemplateException("sum adds no texts; join does");
        }
        Iterator<Object> elements = Iteration.of(value);
        if (bound.has(0)) {
            elements = Iteration.mapped(elements, AttributePath.of(bound.at(0, null))).elements();
        }
        while (elements.hasNext()) {
            sum = Arithmetic.of("+", sum, elements.next());
        }
        return sum;
    }

    private static Object size(Object value, Arguments arguments) {
        boolean isBinary = arguments.bind("filesizeformat", 0, "binary").isTrue(0, false);
        Double parsed = Types.isText(value) ? Numbers.parsedFloat(Printing.printed(value)) : null;
        if (parsed == null && !Types.isNumber(value)) {
            throw new TemplateException("filesizeformat needs a number, found " + Types.described(value));
        }
        double bytes = parsed != null ? parsed : Numbers.asFloat(value);
        int base = isBinary ? 1024 : 1000;
        if (bytes == 1) {
            return "1 Byte";
        }
        if (bytes < base) {
            return Numbers.truncated(bytes) + " Bytes";
        }
        String letters = isBinary ? "KMGTPEZY" : "kMGTPEZY";
        for (int i = 0;; i++) {
            double unit = Math.pow(base, i + 2);
            if (bytes < unit || i == letters.length() - 1) {
                return PercentFormat.formatted("%.1f ", base * bytes / unit) + letters.charAt(i)
                        + (isBinary ? "iB" : "B");
            }
        }
    }
}
