package dev.troupe.chat.filter;

import dev.troupe.chat.filter.Filters.Filter;
import dev.troupe.chat.operation.AttributeLookup;
import dev.troupe.chat.operation.Iteration;
import dev.troupe.chat.operation.ValueComparison;
import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.OneShot;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The filters that divide or sort a list. */
final class SequenceFilters {
    private SequenceFilters() {
    }

    static void addTo(Map<String, Filter> filters) {
        Filter length = (value, arguments) -> {
            arguments.bind("length", 0);
            return BigInteger.valueOf(Iteration.length(value));
        };
        filters.put("length", length);
        filters.put("count", length);
        filters.put("list", (value, arguments) -> {
            arguments.bind("list", 0);
            return Iteration.list(value);
        });
        filters.put("first", (value, arguments) -> {
            arguments.bind("first", 0);
            return firstOf(Iteration.of(value));
        });
        filters.put("last", (value, arguments) -> {
            arguments.bind("last", 0);
            Iterator<Object> reversed = Iteration.reversed(value);
            if (reversed == null) {
                throw new TemplateException("last needs a list, found " + Types.described(value));
            }
            return firstOf(reversed);
        });
        filters.put("reverse", (value, arguments) -> {
            arguments.bind("reverse", 0);
            return reversed(value);
        });
        filters.put("items", (value, arguments) -> {
            arguments.bind("items", 0);
            return items(value);
        });
        filters.put("sort", SequenceFilters::sort);
        filters.put("dictsort", SequenceFilters::dictSort);
        filters.put("groupby", SequenceFilters::groups);
        filters.put("batch", SequenceFilters::batches);
        filters.put("slice", SequenceFilters::slices);
        filters.put("min", (value, arguments) -> extreme("min", value, arguments));
        filters.put("max", (value, arguments) -> extreme("max", value, arguments));
        filters.put("attr",
                (value, arguments) -> AttributeLookup.attributeAlone(value,
                        arguments.bind("attr", 1, "name").text(0, null)));
    }

    private static Object firstOf(Iterator<Object> elements) {
        return elements.hasNext()
                ? elements.next()
                : new Undefined("there is no first or last element, since the list is empty");
    }

    private static Object reversed(Object value) {
        if (value instanceof String text) {
            return AttributeLookup.slice(text, None.NONE, None.NONE, BigInteger.ONE.negate());
        }
        Iterator<Object> reversed = Types.isText(value) ? null : Iteration.reversed(value);
        if (reversed != null) {
            return new OneShot(reversed);
        }
        List<Object> list = Iteration.list(value);
        Collections.reverse(list);
        return list;
    }

    private static Object items(Object value) {
        return switch (value) {
            case Undefined _ -> new OneShot(Collections.emptyIterator());
            case Dict dict -> new OneShot(dict.items().iterator());
            default -> throw new TemplateException("items needs a dict, found " + Types.described(value));
        };
    }

    /** Sorts elements by their keys; the sort is stable. */
    private static List<Object> sorted(List<Object> elements, UnaryOperator<Object> key, boolean isReverse) {
        record Keyed(Object key, Object element) {
        }
        List<Keyed> keyed = new ArrayList<>();
        elements.forEach(element -> keyed.add(new Keyed(key.apply(element), element)));
        Comparator<Keyed> order = (one, other) -> ValueComparison.compare(one.key(), other.key());
        keyed.sort(isReverse ? order.reversed() : order);
        List<Object> sorted = new ArrayList<>();
        keyed.forEach(one -> sorted.add(one.element()));
        return sorted;
    }

    private static Object sort(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("sort", 0, "reverse", "case_sensitive", "attribute");
        boolean isCaseSensitive = bound.isTrue(1, false);
        Object attribute = bound.at(2, None.NONE);
        List<AttributePath> paths = new ArrayList<>();
        if (attribute instanceof String text) {
            for (String part : text.split(",", -1)) {
                paths.add(AttributePath.of(part));
            }
        } else {
            paths.add(AttributePath.of(attribute));
        }
        return sorted(Iteration.list(value), element -> {
            List<Object> keys = new ArrayList<>();
            paths.forEach(path -> keys.add(AttributePath.key(path.apply(element), isCaseSensitive)));
            return keys;
        }, bound.flag(0, false));
    }

    private static Object dictSort(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("dictsort", 0, "case_sensitive", "by", "reverse");
        int place = switch (bound.text(1, "key")) {
            case "key" -> 0;
            case "value" -> 1;
            default -> throw new TemplateException("dictsort sorts by \"key\" or \"value\"");
        };
        if (!(value instanceof Dict dict)) {
            throw new TemplateException("dictsort needs a dict, found " + Types.described(value));
        }
        boolean isCaseSensitive = bound.isTrue(0, false);
        return sorted(dict.items(), item -> AttributePath.key(((Tuple) item).items().get(place), isCaseSensitive),
                bound.flag(2, false));
    }

    private static Object groups(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("groupby", 1, "attribute", "default", "case_sensitive");
        AttributePath path = AttributePath.of(bound.at(0, None.NONE), bound.at(1, None.NONE));
        boolean isCaseSensitive = bound.isTrue(2, false);
        UnaryOperator<Object> key = element -> AttributePath.key(path.apply(element), isCaseSensitive);
        List<Object> groups = new ArrayList<>();
        List<Object> group = null;
        Object last = null;
        for (Object element : sorted(Iteration.list(value), key, false)) {
            Object own = key.apply(element);
            if (group == null || !ValueComparison.isEqual(last, own)) {
                group = new ArrayList<>();
                groups.add(new Tuple(List.of(isCaseSensitive ? own : path.apply(element), group), true));
                last = own;
            }
            group.add(element);
        }
        return groups;
    }

    private static Object batches(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("batch", 1, "linecount", "fill_with");
        int size = bound.size(0, 1);
        List<Object> batches = new ArrayList<>();
        List<Object> batch = new ArrayList<>();
        for (Object element : Iteration.list(value)) {
            if (batch.size() == size) {
                batches.add(batch);
                batch = new ArrayList<>();
            }
            batch.add(element);
        }
        if (!batch.isEmpty()) {
            while (bound.has(1) && batch.size() < size) {
                Bounds.requireElements(batch.size() + 1L);
                batch.add(bound.at(1, null));
            }
            batches.add(batch);
        }
        return new OneShot(batches.iterator());
    }

    private static Object slices(Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind("slice", 1, "slices", "fill_with");
        int count = bound.size(0, 1);
        if (count == 0) {
            throw new TemplateException("slice needs a number of slices that is not 0");
        }
        List<Object> all = Iteration.list(value);
        List<Object> slices = new ArrayList<>();
        Bounds.requireElements(count);
        int offset = 0;
        for (int i = 0; i < count; i++) {
            boolean hasMore = i < all.size() % count;
            int start = offset + i * (all.size() / count);
            offset += hasMore ? 1 : 0;
            List<Object> slice = new ArrayList<>(all.subList(start, offset + (i + 1) * (all.size() / count)));
            if (bound.has(1) && !hasMore) {
                slice.add(bound.at(1, null));
            }
            slices.add(slice);
        }
        return new OneShot(slices.iterator());
    }

    private static Object extreme(String name, Object value, Arguments arguments) {
        Arguments.Bound bound = arguments.bind(name, 0, "case_sensitive", "attribute");
        boolean isCaseSensitive = bound.isTrue(0, false);
        AttributePath path = AttributePath.of(bound.at(1, None.NONE));
        Object best = null;
        Object bestKey = null;
        Iterator<Object> elements = Iteration.of(value);
        while (elements.hasNext()) {
            Bounds.checkTime();
            Object element = elements.next();
            Object key = AttributePath.key(path.apply(element), isCaseSensitive);
            if (best == null || ValueComparison.holds(name.equals("min") ? "<" : ">", key, bestKey)) {
                best = element;
                bestKey = key;
            }
        }
        return best == null ? new Undefined("there is no smallest or largest element, since the list is empty") : best;
    }
}
