package dev.troupe.chat.syntax;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * An expression of a template. Operators of one precedence are one node with all their operands, so that the depth of a tree
 * is the depth of its brackets.
 */
public sealed interface Expression {
    /** Returns the expressions inside this one, in the order of the template. */
    default Stream<Expression> parts() {
        Stream<Expression> parts = switch (this) {
            case Constant _,Name _ -> Stream.empty();
            case TupleOf tuple -> tuple.items().stream();
            case ListOf list -> list.items().stream();
            case DictOf dict -> dict.pairs().stream().flatMap(pair -> Stream.of(pair.key(), pair.value()));
            case Chain chain -> Stream.concat(Stream.of(chain.base()), chain.links().stream().flatMap(Link::parts));
            case Unary unary -> Stream.of(unary.operand());
            case Arithmetic arithmetic -> parts(arithmetic.first(), arithmetic.steps());
            case Comparing comparing -> parts(comparing.first(), comparing.steps());
            case Joined joined -> joined.texts().stream();
            case All all -> all.operands().stream();
            case Any any -> any.operands().stream();
            case Choice choice -> Stream.of(choice.test(), choice.chosen(), choice.otherwise());
        };
        return parts.filter(Objects::nonNull);
    }

    private static Stream<Expression> parts(Expression first, List<Step> steps) {
        return Stream.concat(Stream.of(first), steps.stream().map(Step::operand));
    }

    /** The value of a literal. */
    record Constant(Object value) implements Expression {
    }

    /** A variable. */
    record Name(String name) implements Expression {
    }

    /** {@code (a, b)}. */
    record TupleOf(List<Expression> items) implements Expression {
    }

    /** {@code [a, b]}. */
    record ListOf(List<Expression> items) implements Expression {
    }

    /** {@code {key: value}}. */
    record DictOf(List<Pair> pairs) implements Expression {
    }

    /** A key of a dict with its value. */
    record Pair(Expression key, Expression value) {
    }

    /** A value with its links: {@code a.b[c](d)|e is f}. */
    record Chain(Expression base, List<Link> links) implements Expression {
    }

    /** {@code not a}, {@code -a}, {@code +a}. */
    record Unary(String sign, Expression operand) implements Expression {
    }

    /** {@code a + b - c}, from left to right. */
    record Arithmetic(Expression first, List<Step> steps) implements Expression {
    }

    /** {@code a < b <= c}, each with the next. */
    record Comparing(Expression first, List<Step> steps) implements Expression {
    }

    /** An operator with its right operand. */
    record Step(String sign, Expression operand) {
    }

    /** {@code a ~ b}. */
    record Joined(List<Expression> texts) implements Expression {
    }

    /** {@code a and b}. */
    record All(List<Expression> operands) implements Expression {
    }

    /** {@code a or b}. */
    record Any(List<Expression> operands) implements Expression {
    }

    /** {@code a if b else c}; {@code otherwise} is null if there is no {@code else}. */
    record Choice(Expression test, Expression chosen, Expression otherwise) implements Expression {
    }

    /** A part after a value. */
    sealed interface Link {
        default Stream<Expression> parts() {
            return (switch (this) {
                case Attribute _ -> Stream.<Expression>empty();
                case Item item -> Stream.of(item.index());
                case Slice slice -> Stream.of(slice.start(), slice.stop(), slice.step());
                case Call call -> call.arguments().parts();
                case Filter filter -> filter.arguments().parts();
                case Test test -> test.arguments().parts();
            }).filter(Objects::nonNull);
        }
    }

    /** {@code .name}. */
    record Attribute(String name) implements Link {
    }

    /** {@code [index]}. */
    record Item(Expression index) implements Link {
    }

    /** {@code [start:stop:step]}; each may be null. */
    record Slice(Expression start, Expression stop, Expression step) implements Link {
    }

    /** {@code (arguments)}. */
    record Call(CallArguments arguments) implements Link {
    }

    /** {@code |name(arguments)}. */
    record Filter(int line, String name, CallArguments arguments) implements Link {
    }

    /** {@code is name(arguments)}, or {@code is not}. */
    record Test(int line, String name, boolean isNegated, CallArguments arguments) implements Link {
    }

    /**
     * The arguments of a call.
     *
     * @param positional those without a name
     * @param more the expression after {@code *}, or null
     * @param moreNamed the expression after {@code **}, or null
     */
    record CallArguments(List<Expression> positional, List<Named> named, Expression more, Expression moreNamed) {
        static final CallArguments NONE = new CallArguments(List.of(), List.of(), null, null);

        public Stream<Expression> parts() {
            return Stream.of(positional.stream(), named.stream().map(Named::value), Stream.of(more, moreNamed))
                    .flatMap(part -> part).filter(Objects::nonNull);
        }
    }

    /** An argument with its name. */
    record Named(String name, Expression value) {
    }
}
