package dev.troupe.chat.operation;

import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.DictView;
import dev.troupe.chat.value.Method;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.Numbers;
import dev.troupe.chat.value.PythonRange;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * The attributes and methods of Python's values other than texts. Each returns {@code null} if Python has none of the name.
 */
final class ValueMethods {
    private ValueMethods() {
    }

    private static TemplateException unsupported(String type, String name) {
        return new TemplateException("\"" + name + "\" of a " + type + " is not supported here");
    }

    static Object of(Dict dict, String name) {
        return switch (name) {
            case "items" -> view(dict, name, DictView.Kind.ITEMS);
            case "keys" -> view(dict, name, DictView.Kind.KEYS);
            case "values" -> view(dict, name, DictView.Kind.VALUES);
            case "get" -> new Method(name, arguments -> {
                Arguments.Bound bound = arguments.bindPlaces(name, 1, 2);
                Object value = dict.get(bound.values().getFirst());
                return value == null ? bound.at(1, None.NONE) : value;
            });
            case "copy" -> new Method(name, arguments -> {
                arguments.bindPlaces(name, 0, 0);
                return dict.copy();
            });
            case "fromkeys" -> throw unsupported("dict", name);
            default -> null;
        };
    }

    private static Method view(Dict dict, String name, DictView.Kind kind) {
        return new Method(name, arguments -> {
            arguments.bindPlaces(name, 0, 0);
            return new DictView(dict, kind);
        });
    }

    static Object of(List<?> list, String name) {
        return switch (name) {
            case "copy" -> new Method(name, arguments -> {
                arguments.bindPlaces(name, 0, 0);
                return new ArrayList<Object>(list);
            });
            default -> search(list, name);
        };
    }

    static Object of(Tuple tuple, String name) {
        if (tuple.isGroup()) {
            switch (name) {
                case "grouper" -> {
                    return tuple.items().get(0);
                }
                case "list" -> {
                    return tuple.items().get(1);
                }
                default -> {
                }
            }
        }
        return search(tuple.items(), name);
    }

    static Object of(PythonRange range, String name) {
        return switch (name) {
            case "start" -> range.start();
            case "stop" -> range.stop();
            case "step" -> range.step();
            default -> search(range.elements(), name);
        };
    }

    static Object of(DictView view, String name) {
        return switch (name) {
            case "isdisjoint", "mapping" -> view.kind() == DictView.Kind.VALUES && name.equals("isdisjoint")
                    ? null
                    : unsupportedOf(view, name);
            default -> null;
        };
    }

    private static Object unsupportedOf(Object value, String name) {
        throw unsupported(Types.name(value), name);
    }

    private static Object search(List<?> list, String name) {
        return switch (name) {
            case "count" -> new Method(name, arguments -> {
                Object element = arguments.bindPlaces(name, 1, 1).values().getFirst();
                return BigInteger.valueOf(
                        list.stream().filter(one -> ValueComparison.isSameOrEqual(one, element)).count());
            });
            case "index" -> new Method(name, arguments -> index(list, arguments.bindPlaces(name, 1, 3)));
            default -> null;
        };
    }

    private static Object index(List<?> list, Arguments.Bound bound) {
        BigInteger size = BigInteger.valueOf(list.size());
        BigInteger from = bound.integer(1, BigInteger.ZERO);
        BigInteger to = bound.integer(2, size);
        int begin = Numbers.clamped((from.signum() < 0 ? from.add(size) : from).max(BigInteger.ZERO).min(size));
        int end = Numbers.clamped((to.signum() < 0 ? to.add(size) : to).max(BigInteger.ZERO).min(size));
        for (int i = begin; i < end; i++) {
            if (ValueComparison.isSameOrEqual(list.get(i), bound.values().getFirst())) {
                return BigInteger.valueOf(i);
            }
        }
        throw new TemplateException("index: the element is not in the list");
    }

    static Object of(BigInteger number, String name) {
        return switch (name) {
            case "real", "numerator" -> number;
            case "imag" -> BigInteger.ZERO;
            case "denominator" -> BigInteger.ONE;
            case "bit_length" -> constant(name, BigInteger.valueOf(number.abs().bitLength()));
            case "bit_count" -> constant(name, BigInteger.valueOf(number.abs().bitCount()));
            case "conjugate" -> constant(name, number);
            case "as_integer_ratio" -> constant(name, Tuple.of(number, BigInteger.ONE));
            case "from_bytes", "to_bytes", "is_integer" -> throw unsupported("int", name);
            default -> null;
        };
    }

    static Object of(Double number, String name) {
        return switch (name) {
            case "real" -> number;
            case "imag" -> 0.0;
            case "conjugate" -> constant(name, number);
            case "is_integer" -> constant(name,
                    !number.isInfinite() && !number.isNaN()
                            && new BigDecimal(number).stripTrailingZeros().scale() <= 0);
            case "as_integer_ratio", "fromhex", "hex", "from_number" -> throw unsupported("float", name);
            default -> null;
        };
    }

    private static Method constant(String name, Object value) {
        return new Method(name, arguments -> {
            arguments.bindPlaces(name, 0, 0);
            return value;
        });
    }
}
