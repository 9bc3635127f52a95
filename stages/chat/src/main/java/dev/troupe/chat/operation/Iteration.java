package dev.troupe.chat.operation;

import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.DictView;
import dev.troupe.chat.value.Markup;
import dev.troupe.chat.value.OneShot;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Python's {@code iter}, {@code len}, {@code list}, {@code reversed} and {@code in}. */
public final class Iteration {
    private Iteration() {
    }

    /** Returns the elements of a value, one after another; refused if it has none. */
    public static Iterator<Object> of(Object value) {
        List<Object> elements = Types.elements(value);
        if (elements != null) {
            return elements.iterator();
        }
        return switch (value) {
            case String text -> letters(text).iterator();
            case Markup markup -> letters(markup.text()).iterator();
            case OneShot once -> once.elements();
            case Undefined _ -> Collections.emptyIterator();
            default -> throw new TemplateException("there are no elements in " + Types.described(value));
        };
    }

    public static boolean isIterable(Object value) {
        return Types.elements(value) != null || Types.isText(value) || value instanceof OneShot
                || value instanceof Undefined;
    }

    private static List<Object> letters(String text) {
        List<Object> letters = new ArrayList<>(Bounds.requireElements(text.length()));
        text.codePoints().forEach(code -> letters.add(Character.toString(code)));
        return letters;
    }

    public static List<Object> list(Object value) {
        Iterator<Object> elements = of(value);
        List<Object> list = new ArrayList<>();
        while (elements.hasNext()) {
            Bounds.checkTime();
            Bounds.requireElements(list.size() + 1L);
            list.add(elements.next());
        }
        return list;
    }

    /** Returns the length of a value; refused if it has none. */
    public static int length(Object value) {
        List<Object> elements = Types.elements(value);
        if (elements != null) {
            return elements.size();
        }
        return switch (value) {
            case String text -> text.codePointCount(0, text.length());
            case Markup markup -> markup.text().codePointCount(0, markup.text().length());
            case Undefined _ -> 0;
            case Types.Sized sized -> sized.length();
            default -> throw new TemplateException(Types.described(value) + " has no length");
        };
    }

    public static boolean isSized(Object value) {
        return Types.elements(value) != null || Types.isText(value) || value instanceof Undefined
                || value instanceof Types.Sized;
    }

    /** Returns the elements of a value from its end; {@code null} if Python's {@code reversed} refuses it. */
    public static Iterator<Object> reversed(Object value) {
        boolean hasEnd = Types.elements(value) != null || Types.isText(value) || value instanceof Undefined;
        return hasEnd ? list(value).reversed().iterator() : null;
    }

    public static boolean contains(Object container, Object element) {
        return switch (container) {
            case String text -> text.contains(requireText(element));
            case Markup markup -> markup.text().contains(requireText(element));
            case Dict dict -> dict.get(element) != null;
            case DictView view when view.kind() == DictView.Kind.KEYS -> view.dict().get(element) != null;
            default -> {
                Iterator<Object> elements = of(container);
                while (elements.hasNext()) {
                    Bounds.checkTime();
                    if (ValueComparison.isSameOrEqual(elements.next(), element)) {
                        yield true;
                    }
                }
                yield false;
            }
        };
    }

    private static String requireText(Object element) {
        return switch (element) {
            case String text -> text;
            case Markup markup -> markup.text();
            case Undefined undefined -> throw undefined.failure();
            default -> throw new TemplateException("only a text can be in a text, found " + Types.described(element));
        };
    }

    /** Returns the changed elements, computed as they are taken. */
    public static OneShot mapped(Iterator<Object> elements, UnaryOperator<Object> change) {
        return new OneShot(new Iterator<>() {
            @Override
            public boolean hasNext() {
                return elements.hasNext();
            }

            @Override
            public Object next() {
                Bounds.checkTime();
                return change.apply(elements.next());
            }
        });
    }

    /** Returns the elements that pass a test, computed as they are taken. */
    public static OneShot filtered(Iterator<Object> elements, Predicate<Object> test) {
        return new OneShot(new Iterator<>() {
            private Object found;

            @Override
            public boolean hasNext() {
                while (found == null && elements.hasNext()) {
                    Bounds.checkTime();
                    Object element = elements.next();
                    found = test.test(element) ? element : null;
                }
                return found != null;
            }

            @Override
            public Object next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                Object next = found;
                found = null;
                return next;
            }
        });
    }
}
