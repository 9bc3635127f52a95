package dev.troupe.chat.filter;

import dev.troupe.chat.filter.Filters.Filter;
import dev.troupe.chat.operation.Iteration;
import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.OneShot;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** The filters that choose among elements, or change each. */
final class ChoosingFilters {
    private ChoosingFilters() {
    }

    static void addTo(Map<String, Filter> filters) {
        Filter otherwise = (value, arguments) -> {
            Arguments.Bound bound = arguments.bind("default", 0, "default_value", "boolean");
            return value instanceof Undefined || bound.isTrue(1, false) && !Types.isTrue(value)
                    ? bound.at(0, "")
                    : value;
        };
        filters.put("default", otherwise);
        filters.put("d", otherwise);
        filters.put("map", ChoosingFilters::mapped);
        filters.put("select", (value, arguments) -> selected(value, arguments, false, true));
        filters.put("reject", (value, arguments) -> selected(value, arguments, false, false));
        filters.put("selectattr", (value, arguments) -> selected(value, arguments, true, true));
        filters.put("rejectattr", (value, arguments) -> selected(value, arguments, true, false));
        filters.put("unique", ChoosingFilters::unique);
    }

    private static Object nothing() {
        return new OneShot(Collections.emptyIterator());
    }

    private static String name(List<Object> positional, int index) {
        if (!(positional.get(index) instanceof String name)) {
            throw new TemplateException("expected the name of a filter or a test, found "
                    + Types.described(positional.get(index)));
        }
        return name;
    }

    private static Object mapped(Object value, Arguments arguments) {
        if (!Types.isTrue(value)) {
            return nothing();
        }
        return Iteration.mapped(Iteration.of(value), change(arguments));
    }

    private static UnaryOperator<Object> change(Arguments arguments) {
        if (arguments.positional().isEmpty() && arguments.named().containsKey("attribute")) {
            Map<String, Object> named = new LinkedHashMap<>(arguments.named());
            Object attribute = named.remove("attribute");
            Object otherwise = named.remove("default");
            if (!named.isEmpty()) {
                throw new TemplateException(
                        "map takes no argument of the name \"" + named.keySet().iterator().next() + "\"");
            }
            return AttributePath.of(attribute, otherwise == null ? None.NONE : otherwise);
        }
        if (arguments.positional().isEmpty()) {
            throw new TemplateException("map needs the name of a filter, or an attribute");
        }
        String filter = name(arguments.positional(), 0);
        Arguments rest = arguments.without(1);
        return element -> Filters.applied(filter, element, rest);
    }

    private static Object selected(Object value, Arguments arguments, boolean looksAtAttribute, boolean keeps) {
        if (!Types.isTrue(value)) {
            return nothing();
        }
        int used = looksAtAttribute ? 1 : 0;
        List<Object> positional = arguments.positional();
        if (positional.size() < used) {
            throw new TemplateException("selectattr and rejectattr need the name of an attribute");
        }
        UnaryOperator<Object> look = looksAtAttribute
                ? AttributePath.of(positional.getFirst())
                : UnaryOperator.identity();
        Predicate<Object> test = Types::isTrue;
        if (positional.size() > used) {
            String name = name(positional, used);
            Arguments rest = arguments.without(used + 1);
            test = element -> Tests.holds(name, element, rest);
        }
        Predicate<Object> chosen = test;
        return Iteration.filtered(Iteration.of(value), element -> chosen.test(look.apply(element)) == keeps);
    }

    private static Object unique(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("unique", 0, "case_sensitive", "attribute");
        AttributePath path = AttributePath.of(bound.at(1, None.NONE));
        boolean isCaseSensitive = bound.isTrue(0, false);
        Set<Object> seen = new HashSet<>();
        return Iteration.filtered(Iteration.of(value),
                element -> seen.add(Dict.hashed(AttributePath.key(path.apply(element), isCaseSensitive))));
    }
}
