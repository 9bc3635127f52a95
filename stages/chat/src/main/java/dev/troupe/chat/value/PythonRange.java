package dev.troupe.chat.value;

import java.math.BigInteger;
import java.util.AbstractList;
import java.util.List;

/**
 * Python's range.
 *
 * @param start its first element
 * @param stop its end, excluded
 * @param step the difference between neighbouring elements
 */
public record PythonRange(BigInteger start, BigInteger stop, BigInteger step, int size) {
    /** The most elements, as in Jinja's sandbox. */
    private static final int MOST = 100_000;

    /** Returns a range; refused by the rule of Jinja's sandbox if it has too many elements. */
    public static PythonRange of(BigInteger start, BigInteger stop, BigInteger step) {
        if (step.signum() == 0) {
            throw new TemplateException("the step of a range is 0");
        }
        BigInteger distance = step.signum() > 0 ? stop.subtract(start) : start.subtract(stop);
        BigInteger width = step.abs();
        BigInteger size = distance.signum() <= 0
                ? BigInteger.ZERO
                : distance.add(width).subtract(BigInteger.ONE).divide(width);
        if (size.compareTo(BigInteger.valueOf(MOST)) > 0) {
            throw new TemplateException("a range has more than " + MOST + " elements");
        }
        return new PythonRange(start, stop, step, size.intValue());
    }

    public List<Object> elements() {
        return new AbstractList<>() {
            @Override
            public Object get(int index) {
                return start.add(step.multiply(BigInteger.valueOf(index)));
            }

            @Override
            public int size() {
                return size;
            }
        };
    }
}
