package dev.troupe.chat.render;

import dev.troupe.chat.filter.Filters;
import dev.troupe.chat.filter.Tests;
import dev.troupe.chat.operation.Arithmetic;
import dev.troupe.chat.operation.AttributeLookup;
import dev.troupe.chat.operation.Iteration;
import dev.troupe.chat.operation.Printing;
import dev.troupe.chat.operation.ValueComparison;
import dev.troupe.chat.syntax.Expression;
import dev.troupe.chat.syntax.Expression.CallArguments;
import dev.troupe.chat.syntax.Expression.Link;
import dev.troupe.chat.syntax.Expression.Step;
import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Callable;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The evaluation of expressions, with the results of Jinja in Python. */
final class ExpressionEvaluator {
    private ExpressionEvaluator() {
    }

    static Object value(Expression expression, Scope scope) {
        Bounds.checkTime();
        return switch (expression) {
            case Expression.Constant constant -> constant.value();
            case Expression.Name name -> scope.value(name.name());
            case Expression.TupleOf tuple -> Tuple.of(values(tuple.items(), scope));
            case Expression.ListOf list -> values(list.items(), scope);
            case Expression.DictOf dict -> dict(dict, scope);
            case Expression.Chain chain -> chain(chain, scope, Map.of());
            case Expression.Unary unary -> {
                Object operand = value(unary.operand(), scope);
                yield unary.sign().equals("not") ? !Types.isTrue(operand) : Arithmetic.signed(unary.sign(), operand);
            }
            case Expression.Arithmetic arithmetic -> {
                Object left = value(arithmetic.first(), scope);
                for (Step step : arithmetic.steps()) {
                    left = Arithmetic.of(step.sign(), left, value(step.operand(), scope));
                }
                yield left;
            }
            case Expression.Comparing comparing -> holds(comparing, scope);
            case Expression.Joined joined -> {
                List<Object> parts = values(joined.texts(), scope);
                StringBuilder text = new StringBuilder();
                for (Object part : parts) {
                    String more = Printing.printed(part);
                    Bounds.requireText((long) text.length() + more.length());
                    text.append(more);
                }
                yield text.toString();
            }
            case Expression.All all -> decided(all.operands(), false, scope);
            case Expression.Any any -> decided(any.operands(), true, scope);
            case Expression.Choice choice -> {
                Expression chosen = Types.isTrue(value(choice.test(), scope)) ? choice.chosen() : choice.otherwise();
                yield chosen == null
                        ? new Undefined("an inline if was false and has no else")
                        : value(chosen, scope);
            }
        };
    }

    private static List<Object> values(List<Expression> expressions, Scope scope) {
        List<Object> values = new ArrayList<>(expressions.size());
        for (Expression expression : expressions) {
            values.add(value(expression, scope));
        }
        return values;
    }

    private static Dict dict(Expression.DictOf pairs, Scope scope) {
        Dict dict = new Dict();
        for (Expression.Pair pair : pairs.pairs()) {
            Object key = value(pair.key(), scope);
            dict.put(key, value(pair.value(), scope));
        }
        return dict;
    }

    /** Returns the first operand with the truth value {@code by}; otherwise the last one. */
    private static Object decided(List<Expression> operands, boolean by, Scope scope) {
        Object value = null;
        for (Expression operand : operands) {
            value = value(operand, scope);
            if (Types.isTrue(value) == by) {
                break;
            }
        }
        return value;
    }

    private static boolean holds(Expression.Comparing comparing, Scope scope) {
        Object left = value(comparing.first(), scope);
        for (Step step : comparing.steps()) {
            Object right = value(step.operand(), scope);
            boolean holds = switch (step.sign()) {
                case "==" -> ValueComparison.isEqual(left, right);
                case "!=" -> !ValueComparison.isEqual(left, right);
                case "in" -> Iteration.contains(right, left);
                case "not in" -> !Iteration.contains(right, left);
                default -> ValueComparison.holds(step.sign(), left, right);
            };
            if (!holds) {
                return false;
            }
            left = right;
        }
        return true;
    }

    /** Returns a value with its links applied; the last call gets additional arguments. */
    static Object chain(Expression.Chain chain, Scope scope, Map<String, Object> more) {
        Object value = value(chain.base(), scope);
        for (int i = 0; i < chain.links().size(); i++) {
            boolean isLast = i == chain.links().size() - 1;
            value = linked(value, chain.links().get(i), scope, isLast ? more : Map.of());
        }
        return value;
    }

    private static Object linked(Object value, Link link, Scope scope, Map<String, Object> more) {
        return switch (link) {
            case Expression.Attribute attribute -> AttributeLookup.attribute(value, attribute.name());
            case Expression.Item item -> AttributeLookup.item(value, value(item.index(), scope));
            case Expression.Slice slice ->
                AttributeLookup.slice(value, orNone(slice.start(), scope), orNone(slice.stop(), scope),
                        orNone(slice.step(), scope));
            case Expression.Call call -> called(value, arguments(call.arguments(), scope, more));
            case Expression.Filter filter -> filtered(value, filter, scope);
            case Expression.Test test ->
                Tests.holds(test.name(), value, arguments(test.arguments(), scope, Map.of())) != test.isNegated();
        };
    }

    private static Object orNone(Expression expression, Scope scope) {
        return expression == null ? None.NONE : value(expression, scope);
    }

    private static Object called(Object value, Arguments arguments) {
        return switch (value) {
            case Callable callable -> callable.call(arguments);
            case Undefined undefined -> throw undefined.failure();
            default -> throw new TemplateException(Types.described(value) + " cannot be called");
        };
    }

    static Object filtered(Object value, Expression.Filter filter, Scope scope) {
        return Filters.applied(filter.name(), value, arguments(filter.arguments(), scope, Map.of()));
    }

    private static Arguments arguments(CallArguments arguments, Scope scope, Map<String, Object> more) {
        List<Object> positional = values(arguments.positional(), scope);
        if (arguments.more() != null) {
            positional.addAll(Iteration.list(value(arguments.more(), scope)));
        }
        Map<String, Object> named = new LinkedHashMap<>();
        for (Expression.Named one : arguments.named()) {
            put(named, one.name(), value(one.value(), scope));
        }
        if (arguments.moreNamed() != null) {
            if (!(value(arguments.moreNamed(), scope) instanceof Dict dict)) {
                throw new TemplateException("what follows ** in a call has to be a dict");
            }
            for (Object key : dict.keys()) {
                if (!(key instanceof String name)) {
                    throw new TemplateException("what follows ** in a call has a key that is no text");
                }
                put(named, name, dict.get(key));
            }
        }
        more.forEach((name, value) -> put(named, name, value));
        return new Arguments(positional, named);
    }

    private static void put(Map<String, Object> named, String name, Object value) {
        if (named.put(name, value) != null) {
            throw new TemplateException("a call has the argument \"" + name + "\" twice");
        }
    }
}
