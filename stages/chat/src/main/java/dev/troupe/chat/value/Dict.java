package dev.troupe.chat.value;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Python's dict, in the order of insertion; keys that are equal in Python, such as 1, 1.0 and True, are one key. */
public final class Dict {
    private final Map<Object, Entry> entries = new LinkedHashMap<>();

    private record Entry(Object key, Object value) {
    }

    public void put(Object key, Object value) {
        Object hashed = hashed(key);
        Entry before = entries.get(hashed);
        if (before == null) {
            Bounds.requireElements(entries.size() + 1L);
        }
        entries.put(hashed, new Entry(before == null ? key : before.key(), value));
    }

    /** Returns the value of a key; {@code null} if there is none. */
    public Object get(Object key) {
        Entry entry = entries.get(hashed(key));
        return entry == null ? null : entry.value();
    }

    public int size() {
        return entries.size();
    }

    public List<Object> keys() {
        return new ArrayList<>(entries.values().stream().map(Entry::key).toList());
    }

    public List<Object> values() {
        return new ArrayList<>(entries.values().stream().map(Entry::value).toList());
    }

    /** Returns tuples of its keys and values. */
    public List<Object> items() {
        return new ArrayList<>(
                entries.values().stream().map(entry -> (Object) Tuple.of(entry.key(), entry.value())).toList());
    }

    public Dict copy() {
        Dict copy = new Dict();
        copy.entries.putAll(entries);
        return copy;
    }

    /** Returns a key for Java's maps and sets that is equal if Python's values are. */
    public static Object hashed(Object key) {
        return hashed(key, 0);
    }

    private record HashedTuple(List<Object> items) {
    }

    private static Object hashed(Object key, int depth) {
        return switch (key) {
            case Boolean truth -> truth ? BigInteger.ONE : BigInteger.ZERO;
            case Double number when !number.isInfinite() && !number.isNaN() && number == Math.rint(number) ->
                Numbers.truncated(number);
            case Markup markup -> markup.text();
            case Tuple tuple -> {
                int deeper = Bounds.deeper(depth);
                yield new HashedTuple(tuple.items().stream().map(item -> hashed(item, deeper)).toList());
            }
            case Undefined _ -> Undefined.class;
            case List<?> _,Dict _ ->
                throw new TemplateException("a " + Types.name(key) + " cannot be a key, since it can change");
            default -> key;
        };
    }
}
