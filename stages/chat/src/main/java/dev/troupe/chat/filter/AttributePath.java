package dev.troupe.chat.filter;

import dev.troupe.chat.operation.AttributeLookup;
import dev.troupe.chat.operation.Printing;
import dev.troupe.chat.value.Letters;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.Numbers;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The path of a filter into each element: {@code attribute="a.b.0"}.
 *
 * @param parts texts, and numbers for indices
 * @param otherwise the value in place of a missing part; {@code null} if there is none
 */
record AttributePath(List<Object> parts, Object otherwise) implements UnaryOperator<Object> {
    /** Returns the path of an argument; without one the element itself. */
    static AttributePath of(Object attribute) {
        return of(attribute, null);
    }

    static AttributePath of(Object attribute, Object otherwise) {
        List<Object> parts = new ArrayList<>();
        if (attribute instanceof String text) {
            for (String part : text.split("\\.", -1)) {
                BigInteger number = Letters.isNumber(part) ? Numbers.parsedInteger(part, 10) : null;
                parts.add(number == null ? part : number);
            }
        } else if (attribute != null && attribute != None.NONE) {
            parts.add(attribute);
        }
        return new AttributePath(parts, otherwise == None.NONE ? null : otherwise);
    }

    @Override
    public Object apply(Object element) {
        Object value = element;
        for (Object part : parts) {
            value = AttributeLookup.item(value, part);
            if (otherwise != null && value instanceof Undefined) {
                value = otherwise;
            }
        }
        return value;
    }

    /** Returns the key of a value to sort and compare by: a text in lower case, unless case matters. */
    static Object key(Object value, boolean isCaseSensitive) {
        return !isCaseSensitive && Types.isText(value) ? Letters.lower(Printing.printed(value)) : value;
    }
}
