package dev.troupe.chat.filter;

import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.TemplateException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** The filters of Jinja and transformers by their names. */
public final class Filters {
    /** Filters of Jinja that are not built: they draw, or write HTML, or fill lines of a page. */
    private static final Set<String> UNSUPPORTED = Set.of("pprint", "random", "striptags", "urlize", "wordwrap",
            "xmlattr");
    private static final Map<String, Filter> ALL = all();

    private Filters() {
    }

    /** A filter. */
    @FunctionalInterface
    interface Filter {
        Object apply(Object value, Arguments arguments);
    }

    private static Map<String, Filter> all() {
        Map<String, Filter> all = new HashMap<>();
        TextFilters.addTo(all);
        NumberFilters.addTo(all);
        SequenceFilters.addTo(all);
        ChoosingFilters.addTo(all);
        return all;
    }

    /** Returns whether Jinja has a filter of a name, built here or not. */
    static boolean isOfJinja(String name) {
        return isKnown(name) || UNSUPPORTED.contains(name);
    }

    /** Returns whether a template can use a filter of a name. */
    public static boolean isKnown(String name) {
        return ALL.containsKey(name);
    }

    public static TemplateException unknown(String name) {
        return new TemplateException("the filter \"" + shortened(name) + "\" is "
                + (UNSUPPORTED.contains(name) ? "not supported here" : "not known"));
    }

    static String shortened(String name) {
        return name.length() > 60 ? name.substring(0, 60) + "..." : name;
    }

    public static Object applied(String name, Object value, Arguments arguments) {
        Filter filter = ALL.get(name);
        if (filter == null) {
            throw unknown(name);
        }
        return filter.apply(value, arguments);
    }
}
