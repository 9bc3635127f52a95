package dev.troupe.chat.operation;

import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Markup;
import dev.troupe.chat.value.Numbers;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;

/** Python's operators for numbers, texts and lists. */
public final class Arithmetic {
    private static final MathContext EXACTLY = new MathContext(60);

    private Arithmetic() {
    }

    public static Object of(String sign, Object left, Object right) {
        if (sign.equals("%") && left instanceof String format) {
            return PercentFormat.formatted(format, right);
        }
        if (left instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (right instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (Types.isNumber(left) && Types.isNumber(right)) {
            BigInteger one = Types.integer(left);
            BigInteger other = Types.integer(right);
            return one != null && other != null
                    ? whole(sign, one, other)
                    : floating(sign, Numbers.asFloat(left), Numbers.asFloat(right));
        }
        Object result = switch (sign) {
            case "+" -> sum(left, right);
            case "*" -> Types.integer(right) != null
                    ? repeated(left, Types.integer(right))
                    : Types.integer(left) != null ? repeated(right, Types.integer(left)) : null;
            default -> null;
        };
        if (result == null) {
            throw new TemplateException(
                    "cannot compute " + Types.described(left) + " " + sign + " " + Types.described(right));
        }
        return result;
    }

    private static Object sum(Object left, Object right) {
        if (left instanceof String one && right instanceof String other) {
            Bounds.requireText((long) one.length() + other.length());
            return one + other;
        }
        if (Types.isText(left) && Types.isText(right)) {
            String one = left instanceof Markup markup ? markup.text() : Markup.escaped((String) left).text();
            String other = right instanceof Markup markup ? markup.text() : Markup.escaped((String) right).text();
            Bounds.requireText((long) one.length() + other.length());
            return new Markup(one + other);
        }
        if (left instanceof List<?> one && right instanceof List<?> other) {
            return joined(one, other);
        }
        return left instanceof Tuple one && right instanceof Tuple other
                ? Tuple.of(joined(one.items(), other.items()))
                : null;
    }

    private static List<Object> joined(List<?> left, List<?> right) {
        List<Object> joined = new ArrayList<>(Bounds.requireElements((long) left.size() + right.size()));
        joined.addAll(left);
        joined.addAll(right);
        return joined;
    }

    private static Object repeated(Object value, BigInteger times) {
        int count = Math.max(0, Numbers.clamped(times));
        return switch (value) {
            case String text -> {
                Bounds.requireText((long) text.length() * count);
                yield text.repeat(count);
            }
            case Markup markup -> {
                Bounds.requireText((long) markup.text().length() * count);
                yield new Markup(markup.text().repeat(count));
            }
            case List<?> list -> repeated(list, count);
            case Tuple tuple -> Tuple.of(repeated(tuple.items(), count));
            default -> null;
        };
    }

    private static List<Object> repeated(List<?> list, int count) {
        List<Object> repeated = new ArrayList<>(Bounds.requireElements((long) list.size() * count));
        for (int i = 0; i < count && !list.isEmpty(); i++) {
            repeated.addAll(list);
        }
        return repeated;
    }

    private static Object whole(String sign, BigInteger left, BigInteger right) {
        return switch (sign) {
            case "+" -> bounded(left.add(right));
            case "-" -> bounded(left.subtract(right));
            case "*" -> bounded(left.multiply(right));
            case "/" -> {
                requireNotZero(right.signum() == 0);
                yield Numbers.asFloat(quotient(left, right));
            }
            case "//" -> {
                requireNotZero(right.signum() == 0);
                BigInteger[] parts = left.divideAndRemainder(right);
                yield parts[1].signum() != 0 && parts[1].signum() != right.signum()
                        ? parts[0].subtract(BigInteger.ONE)
                        : parts[0];
            }
            case "%" -> {
                requireNotZero(right.signum() == 0);
                BigInteger rest = left.remainder(right);
                yield rest.signum() != 0 && rest.signum() != right.signum() ? rest.add(right) : rest;
            }
            case "**" -> right.signum() < 0 ? power(Numbers.asFloat(left), Numbers.asFloat(right)) : power(left, right);
            default -> throw new IllegalArgumentException(sign);
        };
    }

    private static Object quotient(BigInteger left, BigInteger right) {
        double one = left.doubleValue();
        double other = right.doubleValue();
        double result = left.bitLength() <= 53 && right.bitLength() <= 53
                ? one / other
                : new BigDecimal(left).divide(new BigDecimal(right), new MathContext(800)).doubleValue();
        if (Double.isInfinite(result)) {
            throw new TemplateException("the result of a division is too large for a float");
        }
        return result;
    }

    private static BigInteger bounded(BigInteger number) {
        if (number.bitLength() > Bounds.MOST_BITS) {
            throw new TemplateException("a number has more than " + Bounds.MOST_BITS + " bits");
        }
        return number;
    }

    private static BigInteger power(BigInteger base, BigInteger exponent) {
        if (base.bitLength() <= 1 && base.abs().bitLength() <= 1) {
            boolean isOdd = exponent.testBit(0);
            return exponent.signum() == 0 || base.signum() < 0 && !isOdd ? BigInteger.ONE : base;
        }
        if (!Numbers.fitsInt(exponent)
                || (long) (base.abs().bitLength() - 1) * exponent.intValue() > Bounds.MOST_BITS) {
            throw new TemplateException("a number has more than " + Bounds.MOST_BITS + " bits");
        }
        return base.pow(exponent.intValue());
    }

    private static void requireNotZero(boolean isZero) {
        if (isZero) {
            throw new TemplateException("a number is divided by 0");
        }
    }

    private static Object floating(String sign, double left, double right) {
        return switch (sign) {
            case "+" -> left + right;
            case "-" -> left - right;
            case "*" -> left * right;
            case "/" -> {
                requireNotZero(right == 0);
                yield left / right;
            }
            case "//" -> divided(left, right)[0];
            case "%" -> divided(left, right)[1];
            case "**" -> power(left, right);
            default -> throw new IllegalArgumentException(sign);
        };
    }

    /** Returns quotient and remainder, as Python's {@code divmod} for floats. */
    private static double[] divided(double left, double right) {
        requireNotZero(right == 0);
        double rest = left % right;
        double quotient = (left - rest) / right;
        if (rest != 0) {
            if (right < 0 != rest < 0) {
                rest += right;
                quotient -= 1;
            }
        } else {
            rest = Math.copySign(0.0, right);
        }
        if (quotient == 0) {
            return new double[]{Math.copySign(0.0, left / right), rest};
        }
        double floor = Math.floor(quotient);
        return new double[]{quotient - floor > 0.5 ? floor + 1 : floor, rest};
    }

    private static Object power(double base, double exponent) {
        if (base == 0 && exponent < 0) {
            throw new TemplateException("0 has no negative power");
        }
        if (base < 0 && exponent != Math.rint(exponent) && !Double.isInfinite(base)) {
            throw new TemplateException("the power of a negative number is complex, which is not supported");
        }
        double result = nearestPower(base, exponent);
        if (Double.isInfinite(result) && !Double.isInfinite(base) && !Double.isInfinite(exponent)) {
            throw new TemplateException("a power is too large for a float");
        }
        return result;
    }

    private static double nearestPower(double base, double exponent) {
        boolean isSimple = exponent == Math.rint(exponent) && Math.abs(exponent) <= 1000 && base != 0
                && !Double.isInfinite(base) && !Double.isNaN(base);
        if (!isSimple) {
            return base == 1 ? 1 : Math.abs(base) == 1 && Double.isInfinite(exponent) ? 1 : Math.pow(base, exponent);
        }
        BigDecimal power = new BigDecimal(base).pow((int) Math.abs(exponent), EXACTLY);
        BigDecimal exact = exponent < 0 ? BigDecimal.ONE.divide(power, EXACTLY) : power;
        double nearest = exact.doubleValue();
        boolean isNormal = !Double.isInfinite(nearest) && Math.abs(nearest) >= Double.MIN_NORMAL;
        if (isNormal && exact.subtract(new BigDecimal(nearest)).abs().doubleValue() > 0.48 * Math.ulp(nearest)) {
            throw new TemplateException("a power is between two floats, and which one is nearer is not certain");
        }
        return nearest;
    }

    public static Object signed(String sign, Object value) {
        if (value instanceof Double number) {
            return sign.equals("-") ? -number : number;
        }
        BigInteger number = Types.integer(value);
        if (number == null) {
            throw value instanceof Undefined undefined
                    ? undefined.failure()
                    : new TemplateException("cannot compute " + sign + " " + Types.described(value));
        }
        return sign.equals("-") ? number.negate() : number;
    }
}
