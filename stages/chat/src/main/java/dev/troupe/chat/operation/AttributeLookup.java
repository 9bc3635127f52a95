package dev.troupe.chat.operation;

import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Callable;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.DictView;
import dev.troupe.chat.value.Markup;
import dev.troupe.chat.value.Method;
import dev.troupe.chat.value.Namespace;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.Numbers;
import dev.troupe.chat.value.Opaque;
import dev.troupe.chat.value.PythonRange;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Attributes, items and slices by the rules of Jinja's sandbox: a missing attribute is looked for among the items. */
public final class AttributeLookup {
    /**
     * Names that every object of Python, or every dict, has: a template that looks up one gets nothing, even if a dict has
     * such a key.
     */
    private static final Set<String> INTERNAL = Set.of("__class__", "__class_getitem__", "__contains__", "__delattr__",
            "__delitem__", "__dir__", "__doc__", "__eq__", "__format__", "__ge__", "__getattribute__", "__getitem__",
            "__getstate__", "__gt__", "__hash__", "__init__", "__init_subclass__", "__ior__", "__iter__", "__le__",
            "__len__",
            "__lt__", "__ne__", "__new__", "__or__", "__reduce__", "__reduce_ex__", "__repr__", "__reversed__",
            "__ror__",
            "__setattr__", "__setitem__", "__sizeof__", "__str__", "__subclasshook__");
    private static final Set<String> CHANGING_LISTS = Set.of("append", "clear", "pop", "reverse", "insert", "sort",
            "extend",
            "remove");
    private static final Set<String> CHANGING_DICTS = Set.of("clear", "pop", "popitem", "setdefault", "update");

    private AttributeLookup() {
    }

    public static Object attribute(Object value, String name) {
        Object own = own(value, name);
        if (own != null) {
            return own;
        }
        Object item = itemOrNull(value, name);
        return item == null ? missing(value, name) : item;
    }

    /** Returns {@code value|attr(name)}, without items. */
    public static Object attributeAlone(Object value, String name) {
        Object own = own(value, name);
        return own == null ? missing(value, name) : own;
    }

    public static Object item(Object value, Object index) {
        Object item = itemOrNull(value, index);
        if (item == null && Types.isText(index)) {
            item = own(value, Printing.printed(index));
        }
        return item == null ? missing(value, index) : item;
    }

    private static Undefined missing(Object value, Object name) {
        return new Undefined(Types.described(value) + " has no " + (name instanceof String text
                ? "attribute \"" + (text.length() > 60 ? text.substring(0, 60) + "..." : text) + "\""
                : name instanceof BigInteger number && number.bitLength() < 64 ? "element " + number : "such element"));
    }

    private static Undefined unsafe(Object value, String name) {
        return new Undefined("access to the attribute \"" + name + "\" of " + Types.described(value) + " is not safe");
    }

    /** Returns an attribute of the value itself; {@code null} if it has none of the name. */
    private static Object own(Object value, String name) {
        if (value instanceof Undefined undefined) {
            if (INTERNAL.contains(name)) {
                return unsafe(value, name);
            }
            throw undefined.failure();
        }
        if (INTERNAL.contains(name) || isHidden(value, name)) {
            return unsafe(value, name);
        }
        return switch (value) {
            case String text -> TextMethods.of(text, name);
            case Markup markup -> markupMethod(markup, name);
            case Dict dict -> ValueMethods.of(dict, name);
            case List<?> list -> ValueMethods.of(list, name);
            case Tuple tuple -> ValueMethods.of(tuple, name);
            case PythonRange range -> ValueMethods.of(range, name);
            case BigInteger number -> ValueMethods.of(number, name);
            case Boolean truth -> ValueMethods.of(Types.index(truth), name);
            case Double number -> ValueMethods.of(number, name);
            case DictView view -> ValueMethods.of(view, name);
            case Namespace namespace -> namespace.variables().get(name);
            case Opaque opaque -> opaque.attribute(name);
            default -> null;
        };
    }

    private static boolean isHidden(Object value, String name) {
        return switch (value) {
            case List<?> _ -> CHANGING_LISTS.contains(name);
            case Dict _ -> CHANGING_DICTS.contains(name);
            case Namespace _,Opaque _,Tuple _ -> name.startsWith("_");
            default -> false;
        };
    }

    private static Object markupMethod(Markup markup, String name) {
        Object method = TextMethods.of(markup.text(), name);
        return method == null ? null : new Method(name, arguments -> {
            Object result = arguments.equals(Arguments.NONE) ? ((Callable) method).call(arguments) : null;
            return switch (result) {
                case String text -> new Markup(text);
                case Boolean truth -> truth;
                case null, default -> throw new TemplateException("the method \"" + name
                        + "\" of a text that is marked as safe is not supported here");
            };
        });
    }

    /** Returns an item; {@code null} if there is none, or the value has no items of this kind. */
    private static Object itemOrNull(Object value, Object index) {
        return switch (value) {
            case Undefined undefined -> throw undefined.failure();
            case Dict dict -> index instanceof List<?> || index instanceof Dict ? null : dict.get(index);
            case String text -> letter(text, index);
            case Markup markup -> letter(markup.text(), index) instanceof String letter ? new Markup(letter) : null;
            case List<?> list -> element(list, index);
            case Tuple tuple -> element(tuple.items(), index);
            case PythonRange range -> element(range.elements(), index);
            default -> null;
        };
    }

    private static Object element(List<?> list, Object index) {
        BigInteger place = Types.integer(index);
        if (place == null) {
            return null;
        }
        int at = Numbers.clamped(place.signum() < 0 ? place.add(BigInteger.valueOf(list.size())) : place);
        return at >= 0 && at < list.size() ? list.get(at) : null;
    }

    private static Object letter(String text, Object index) {
        BigInteger place = Types.integer(index);
        if (place == null) {
            return null;
        }
        int length = text.codePointCount(0, text.length());
        int at = Numbers.clamped(place.signum() < 0 ? place.add(BigInteger.valueOf(length)) : place);
        return at < 0 || at >= length ? null : Character.toString(text.codePointAt(text.offsetByCodePoints(0, at)));
    }

    /** Returns {@code value[start:stop:step]}; each may be None. */
    public static Object slice(Object value, Object start, Object stop, Object step) {
        return switch (value) {
            case Undefined undefined -> throw undefined.failure();
            case String text -> sliced(text, start, stop, step);
            case Markup markup -> new Markup(sliced(markup.text(), start, stop, step));
            case List<?> list -> picked(list, Places.of(list.size(), start, stop, step));
            case Tuple tuple -> Tuple.of(picked(tuple.items(), Places.of(tuple.items().size(), start, stop, step)));
            case PythonRange range -> {
                Places places = Places.of(range.size(), start, stop, step);
                BigInteger width = range.step().multiply(BigInteger.valueOf(places.step()));
                yield PythonRange.of(range.start().add(range.step().multiply(BigInteger.valueOf(places.start()))),
                        range.start().add(range.step().multiply(BigInteger.valueOf(places.stop()))), width);
            }
            default -> throw new TemplateException(Types.described(value) + " has no slices");
        };
    }

    private static String sliced(String text, Object start, Object stop, Object step) {
        int length = text.codePointCount(0, text.length());
        Places places = Places.of(length, start, stop, step);
        if (places.step() == 1) {
            int begin = text.offsetByCodePoints(0, Math.min(places.start(), length));
            return places.stop() <= places.start()
                    ? ""
                    : text.substring(begin, text.offsetByCodePoints(begin, places.stop() - places.start()));
        }
        int[] codes = text.codePoints().toArray();
        StringBuilder sliced = new StringBuilder();
        for (long i = places.start(); places.isInside(i); i += places.step()) {
            sliced.appendCodePoint(codes[(int) i]);
        }
        return sliced.toString();
    }

    private static List<Object> picked(List<?> list, Places places) {
        List<Object> picked = new ArrayList<>();
        for (long i = places.start(); places.isInside(i); i += places.step()) {
            picked.add(list.get((int) i));
        }
        return picked;
    }

    /** The ends of a slice in a sequence of a length, counted like Python's: from the end if negative. */
    private record Places(int start, int stop, int step) {
        static Places of(int length, Object start, Object stop, Object step) {
            int width = step == None.NONE ? 1 : Math.max(-Integer.MAX_VALUE, Numbers.clamped(Types.index(step)));
            if (width == 0) {
                throw new TemplateException("the step of a slice is 0");
            }
            int lowest = width < 0 ? -1 : 0;
            int highest = width < 0 ? length - 1 : length;
            return new Places(start == None.NONE ? width < 0 ? highest : lowest : place(start, length, lowest, highest),
                    stop == None.NONE ? width < 0 ? lowest : highest : place(stop, length, lowest, highest), width);
        }

        private static int place(Object index, int length, int lowest, int highest) {
            BigInteger place = Types.index(index);
            int at = Numbers.clamped(place.signum() < 0 ? place.add(BigInteger.valueOf(length)) : place);
            return Math.clamp(at, lowest, Math.max(lowest, highest));
        }

        boolean isInside(long place) {
            return step > 0 ? place < stop : place > stop;
        }
    }

    /** Returns the part of a text from one character to another, for methods such as {@code find}. */
    static String part(String text, Object start, Object stop) {
        return sliced(text, start, stop, None.NONE);
    }
}
