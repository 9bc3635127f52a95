package dev.troupe.schedule.drawing;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * The unit of the times in a drawing.
 *
 * @param nanosPerUnit nanoseconds of a timeline per unit
 */
public record TimeScale(String unit, double nanosPerUnit) {
    /** The scale of timelines under unit costs: one nanosecond is one forward. */
    public static final TimeScale UNITS = new TimeScale("units", 1);

    public TimeScale {
        if (!(nanosPerUnit > 0)) {
            throw new IllegalArgumentException("a unit of time lasts more than 0 ns, not " + nanosPerUnit);
        }
    }

    /** Returns the largest of ns, \u00b5s, ms and s in which a duration is 10 or more. */
    public static TimeScale fitting(long nanos) {
        if (nanos >= 10_000_000_000L) {
            return new TimeScale("s", 1e9);
        }
        if (nanos >= 10_000_000) {
            return new TimeScale("ms", 1e6);
        }
        return nanos >= 10_000 ? new TimeScale("\u00b5s", 1e3) : new TimeScale("ns", 1);
    }

    /** Returns a duration with its unit, in four digits at most. */
    public String text(long nanos) {
        return number(nanos / nanosPerUnit) + " " + unit;
    }

    /** Returns a duration without its unit, with every digit. */
    public String plain(long nanos) {
        BigDecimal exact = new BigDecimal(nanos).divide(BigDecimal.valueOf(nanosPerUnit), MathContext.DECIMAL64);
        return exact.signum() == 0 ? "0" : exact.stripTrailingZeros().toPlainString();
    }

    /** Returns a number with one digit after the point if that digit matters. */
    public static String number(double value) {
        return BigDecimal.valueOf(value).setScale(value < 100 ? 2 : 1, RoundingMode.HALF_UP).stripTrailingZeros()
                .toPlainString();
    }

    /** Returns the distance of ticks on an axis: 1, 2 or 5 times a power of ten units, about {@code count} of them. */
    double tickNanos(long nanos, int count) {
        double wanted = Math.max(nanos / nanosPerUnit / count, 1e-9);
        double power = Math.pow(10, Math.floor(Math.log10(wanted)));
        double step = wanted <= power ? 1 : wanted <= 2 * power ? 2 : wanted <= 5 * power ? 5 : 10;
        return step * power * nanosPerUnit;
    }
}
