package dev.troupe.chat.render;

import dev.troupe.chat.operation.Iteration;
import dev.troupe.chat.operation.ValueComparison;
import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Callable;
import dev.troupe.chat.value.Method;
import dev.troupe.chat.value.OneShot;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigInteger;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;

/** The variable {@code loop} of a loop. Its length is counted, and its next element read, only on demand. */
final class LoopState implements Callable, Types.Sized {
    private final Object values;
    private final Function<Object, Object> again;
    private final int level;
    private Iterator<Object> elements;
    private int index = -1;
    private int length = -1;
    private Object before;
    private Object current;
    private Object after;
    private Tuple changed;

    /**
     * A loop that has not begun.
     *
     * @param again renders the body of a recursive loop for other values; {@code null} if it is not recursive
     */
    LoopState(Object values, Function<Object, Object> again, int level) {
        this.values = values;
        this.again = again;
        this.level = level;
        this.elements = Iteration.of(values);
    }

    boolean hasNext() {
        return after != null || elements.hasNext();
    }

    Object next() {
        Object next = after != null ? after : elements.next();
        after = null;
        index++;
        before = current;
        current = next;
        return next;
    }

    private Object peek() {
        if (after == null && elements.hasNext()) {
            after = elements.next();
        }
        return after;
    }

    @Override
    public int length() {
        if (length < 0) {
            if (Iteration.isSized(values)) {
                length = Iteration.length(values);
            } else {
                List<Object> left = Iteration.list(new OneShot(elements));
                elements = left.iterator();
                length = left.size() + index + 1 + (after == null ? 0 : 1);
            }
        }
        return length;
    }

    @Override
    public Object attribute(String name) {
        return switch (name) {
            case "index" -> BigInteger.valueOf(index + 1L);
            case "index0" -> BigInteger.valueOf(index);
            case "revindex" -> BigInteger.valueOf((long) length() - index);
            case "revindex0" -> BigInteger.valueOf((long) length() - index - 1);
            case "first" -> index == 0;
            case "last" -> peek() == null;
            case "length" -> BigInteger.valueOf(length());
            case "depth" -> BigInteger.valueOf(level + 1L);
            case "depth0" -> BigInteger.valueOf(level);
            case "previtem" -> index == 0 ? new Undefined("there is no previous item") : before;
            case "nextitem" -> peek() == null ? new Undefined("there is no next item") : after;
            case "cycle" -> new Method(name, this::cycled);
            case "changed" -> new Method(name, this::isChanged);
            default -> null;
        };
    }

    private Object cycled(Arguments arguments) {
        List<Object> items = arguments.positional();
        if (items.isEmpty() || !arguments.named().isEmpty()) {
            throw new TemplateException("loop.cycle needs values, without names");
        }
        return items.get(Math.floorMod(index, items.size()));
    }

    private Object isChanged(Arguments arguments) {
        Tuple value = Tuple.of(arguments.positional());
        boolean isChanged = changed == null || !ValueComparison.isEqual(changed, value);
        changed = isChanged ? value : changed;
        return isChanged;
    }

    @Override
    public Object call(Arguments arguments) {
        if (again == null) {
            throw new TemplateException("only a loop that is recursive can be called");
        }
        return again.apply(arguments.bind("loop", 1, "iterable").values().getFirst());
    }

    @Override
    public String printed() {
        return "<LoopContext " + (index + 1) + "/" + length() + ">";
    }
}
