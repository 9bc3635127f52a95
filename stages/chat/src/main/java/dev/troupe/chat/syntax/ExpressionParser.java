package dev.troupe.chat.syntax;

import dev.troupe.chat.syntax.Expression.Arithmetic;
import dev.troupe.chat.syntax.Expression.Call;
import dev.troupe.chat.syntax.Expression.Chain;
import dev.troupe.chat.syntax.Expression.Constant;
import dev.troupe.chat.syntax.Expression.Link;
import dev.troupe.chat.syntax.Expression.Pair;
import dev.troupe.chat.syntax.Expression.Step;
import dev.troupe.chat.syntax.Token.Kind;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.Numbers;
import dev.troupe.chat.value.TemplateException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The parser of expressions by Jinja's grammar; each method is a precedence, from the loosest to the tightest. */
final class ExpressionParser {
    private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");

    private final TokenCursor tokens;
    private final LinkParser linkParser;

    ExpressionParser(TokenCursor tokens) {
        this.tokens = tokens;
        this.linkParser = new LinkParser(tokens, this);
    }

    Expression expression() {
        tokens.enter();
        Expression value = any();
        if (tokens.skipIfName("if")) {
            Expression test = any();
            value = new Expression.Choice(test, value, tokens.skipIfName("else") ? expression() : null);
            if (tokens.isAtName("if")) {
                throw tokens.failure("an inline if follows another without else; put one into parentheses");
            }
        }
        tokens.leave();
        return value;
    }

    /** Reads an expression, or several with commas, which are a tuple; it ends at {@code isEnd}. */
    Expression tuple(Supplier<Expression> part, boolean inParentheses, Predicate<Token> isEnd) {
        List<Expression> parts = new ArrayList<>();
        boolean isTuple = false;
        while (!isTupleEnd(isEnd)) {
            parts.add(part.get());
            if (!tokens.skipIf(",")) {
                break;
            }
            isTuple = true;
        }
        if (!isTuple && !parts.isEmpty()) {
            return parts.getFirst();
        }
        if (!isTuple && !inParentheses) {
            throw tokens.unexpected("an expression");
        }
        return new Expression.TupleOf(parts);
    }

    /** Reads filters that follow each other; the first has no bar if a filter begins a statement. */
    List<Expression.Filter> filters(boolean beginsInline) {
        return linkParser.filters(beginsInline);
    }

    Expression tuple() {
        return tuple(this::expression, false, _ -> false);
    }

    private boolean isTupleEnd(Predicate<Token> isEnd) {
        Token token = tokens.current();
        return token.kind() == Kind.PRINT_END || token.kind() == Kind.TAG_END || token.isOperator(")")
                || isEnd.test(token);
    }

    Expression any() {
        return flat("or", this::all, Expression.Any::new);
    }

    private Expression all() {
        return flat("and", this::negation, Expression.All::new);
    }

    private interface Maker {
        Expression of(List<Expression> operands);
    }

    private Expression flat(String word, Supplier<Expression> operand, Maker maker) {
        Expression first = operand.get();
        if (!tokens.isAtName(word)) {
            return first;
        }
        List<Expression> operands = new ArrayList<>(List.of(first));
        while (tokens.skipIfName(word)) {
            operands.add(operand.get());
        }
        return maker.of(operands);
    }

    private Expression negation() {
        if (!tokens.skipIfName("not")) {
            return comparison();
        }
        tokens.enter();
        Expression operand = negation();
        tokens.leave();
        return new Expression.Unary("not", operand);
    }

    private Expression comparison() {
        Expression first = sum();
        List<Step> steps = new ArrayList<>();
        while (true) {
            String sign;
            if (tokens.isAt(Kind.OPERATOR) && COMPARISONS.contains(tokens.current().text())) {
                sign = tokens.next().text();
            } else if (tokens.skipIfName("in")) {
                sign = "in";
            } else if (tokens.isAtName("not") && tokens.following().isName("in")) {
                tokens.next();
                tokens.next();
                sign = "not in";
            } else {
                return steps.isEmpty() ? first : new Expression.Comparing(first, steps);
            }
            steps.add(new Step(sign, sum()));
        }
    }

    private Expression sum() {
        return arithmetic(Set.of("+", "-"), this::joined);
    }

    private Expression joined() {
        Expression first = product();
        if (!tokens.isAt("~")) {
            return first;
        }
        List<Expression> parts = new ArrayList<>(List.of(first));
        while (tokens.skipIf("~")) {
            parts.add(product());
        }
        return new Expression.Joined(parts);
    }

    private Expression product() {
        return arithmetic(Set.of("*", "/", "//", "%"), () -> arithmetic(Set.of("**"), () -> signed(true)));
    }

    private Expression arithmetic(Set<String> signs, Supplier<Expression> operand) {
        Expression first = operand.get();
        List<Step> steps = new ArrayList<>();
        while (tokens.isAt(Kind.OPERATOR) && signs.contains(tokens.current().text())) {
            steps.add(new Step(tokens.next().text(), operand.get()));
        }
        return steps.isEmpty() ? first : new Arithmetic(first, steps);
    }

    /** Reads a value with its signs. Filters and tests bind looser than a sign, but attributes, items and calls tighter. */
    private Expression signed(boolean takesFilters) {
        Expression value;
        if (tokens.isAt("-") || tokens.isAt("+")) {
            String sign = tokens.next().text();
            tokens.enter();
            value = new Expression.Unary(sign, signed(false));
            tokens.leave();
        } else {
            value = primary();
        }
        List<Link> links = new ArrayList<>();
        linkParser.postfix(links);
        while (takesFilters) {
            if (tokens.isAt("|")) {
                links.addAll(linkParser.filters(false));
            } else if (tokens.isAtName("is")) {
                links.add(linkParser.test());
            } else if (tokens.isAt("(")) {
                links.add(new Call(linkParser.arguments()));
            } else {
                break;
            }
        }
        return links.isEmpty() ? value : new Chain(value, links);
    }

    Expression primary() {
        Token token = tokens.current();
        return switch (token.kind()) {
            case NAME -> named(tokens.next().text());
            case STRING -> strings();
            case INTEGER, FLOAT -> number(tokens.next());
            case OPERATOR -> switch (token.text()) {
                case "(" -> parenthesized();
                case "[" -> new Expression.ListOf(listed("[", "]", this::expression));
                case "{" -> new Expression.DictOf(listed("{", "}", this::pair));
                default -> throw tokens.failure("unexpected " + token.described());
            };
            default -> throw tokens.failure("unexpected " + token.described());
        };
    }

    private static Expression named(String name) {
        return switch (name) {
            case "true", "True" -> new Constant(true);
            case "false", "False" -> new Constant(false);
            case "none", "None" -> new Constant(None.NONE);
            default -> new Expression.Name(name);
        };
    }

    private Expression strings() {
        StringBuilder text = new StringBuilder();
        while (tokens.isAt(Kind.STRING)) {
            text.append(tokens.next().text());
        }
        return new Constant(text.toString());
    }

    static Expression number(Token token) {
        try {
            return new Constant(token.kind() == Kind.FLOAT
                    ? (Object) Double.valueOf(token.text())
                    : Numbers.parsedInteger(token.text(), 0));
        } catch (TemplateException wrong) {
            throw wrong.at(token.line());
        }
    }

    private Expression parenthesized() {
        tokens.enter();
        tokens.next();
        Expression inside = tuple(this::expression, true, _ -> false);
        tokens.expect(")");
        tokens.leave();
        return inside;
    }

    private <T> List<T> listed(String begin, String end, Supplier<T> element) {
        tokens.enter();
        tokens.expect(begin);
        List<T> elements = new ArrayList<>();
        while (!tokens.isAt(end)) {
            elements.add(element.get());
            if (!tokens.isAt(end)) {
                tokens.expect(",");
            }
        }
        tokens.expect(end);
        tokens.leave();
        return elements;
    }

    private Pair pair() {
        Expression key = expression();
        tokens.expect(":");
        return new Pair(key, expression());
    }
}
