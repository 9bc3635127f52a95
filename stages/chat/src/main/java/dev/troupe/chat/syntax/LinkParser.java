package dev.troupe.chat.syntax;

import dev.troupe.chat.syntax.Expression.Attribute;
import dev.troupe.chat.syntax.Expression.Call;
import dev.troupe.chat.syntax.Expression.CallArguments;
import dev.troupe.chat.syntax.Expression.Chain;
import dev.troupe.chat.syntax.Expression.Filter;
import dev.troupe.chat.syntax.Expression.Item;
import dev.troupe.chat.syntax.Expression.Link;
import dev.troupe.chat.syntax.Expression.Named;
import dev.troupe.chat.syntax.Expression.Slice;
import dev.troupe.chat.syntax.Expression.Test;
import dev.troupe.chat.syntax.Token.Kind;
import dev.troupe.chat.value.TemplateException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The parser of the parts after a value: attributes, items, calls, filters and tests. */
final class LinkParser {
    /** Words that cannot be the argument without parentheses of a test. */
    private static final Set<String> AFTER_TEST = Set.of("else", "or", "and");

    private final TokenCursor tokens;
    private final ExpressionParser expressions;

    LinkParser(TokenCursor tokens, ExpressionParser expressions) {
        this.tokens = tokens;
        this.expressions = expressions;
    }

    /** Reads the attributes, items and calls that follow a value. */
    void postfix(List<Link> links) {
        while (true) {
            if (tokens.skipIf(".")) {
                Token token = tokens.next();
                links.add(switch (token.kind()) {
                    case NAME -> new Attribute(token.text());
                    case INTEGER -> new Item(ExpressionParser.number(token));
                    default -> throw TemplateException.inLine(token.line(),
                            "expected a name or a number after the dot, found " + token.described());
                });
            } else if (tokens.isAt("[")) {
                links.add(subscript());
            } else if (tokens.isAt("(")) {
                links.add(new Call(arguments()));
            } else {
                return;
            }
        }
    }

    private Link subscript() {
        List<Link> parts = new ArrayList<>();
        tokens.enter();
        tokens.expect("[");
        while (!tokens.isAt("]")) {
            if (!parts.isEmpty()) {
                tokens.expect(",");
            }
            parts.add(subscribed());
        }
        tokens.expect("]");
        tokens.leave();
        if (parts.size() == 1) {
            return parts.getFirst();
        }
        List<Expression> items = new ArrayList<>();
        for (Link part : parts) {
            if (!(part instanceof Item item)) {
                throw tokens.failure("a slice has to be alone in its brackets");
            }
            items.add(item.index());
        }
        return new Item(new Expression.TupleOf(items));
    }

    private Link subscribed() {
        Expression start = tokens.isAt(":") ? null : expressions.expression();
        if (!tokens.skipIf(":")) {
            return new Item(start);
        }
        Expression stop = isSliceEnd() ? null : expressions.expression();
        Expression step = tokens.skipIf(":") && !isSliceEnd() ? expressions.expression() : null;
        return new Slice(start, stop, step);
    }

    private boolean isSliceEnd() {
        return tokens.isAt(":") || tokens.isAt("]") || tokens.isAt(",");
    }

    /** Reads filters that follow each other; the first has no bar if a filter begins a statement. */
    List<Filter> filters(boolean beginsInline) {
        List<Filter> filters = new ArrayList<>();
        boolean isInline = beginsInline;
        while (isInline || tokens.skipIf("|")) {
            isInline = false;
            int line = tokens.line();
            String name = dottedName("the name of a filter");
            filters.add(new Filter(line, name, tokens.isAt("(") ? arguments() : CallArguments.NONE));
        }
        return filters;
    }

    private String dottedName(String described) {
        StringBuilder name = new StringBuilder(tokens.expect(Kind.NAME, described).text());
        while (tokens.skipIf(".")) {
            name.append('.').append(tokens.expect(Kind.NAME, described).text());
        }
        return name.toString();
    }

    Test test() {
        int line = tokens.next().line();
        boolean isNegated = tokens.skipIfName("not");
        String name = dottedName("the name of a test");
        return new Test(line, name, isNegated, tokens.isAt("(") ? arguments() : testArgument());
    }

    private CallArguments testArgument() {
        Token token = tokens.current();
        boolean isValue = switch (token.kind()) {
            case NAME -> !AFTER_TEST.contains(token.text());
            case STRING, INTEGER, FLOAT -> true;
            case OPERATOR -> token.text().equals("[") || token.text().equals("{");
            default -> false;
        };
        if (!isValue) {
            return CallArguments.NONE;
        }
        if (token.isName("is")) {
            throw tokens.failure("a test follows another; put one into parentheses");
        }
        Expression value = expressions.primary();
        List<Link> links = new ArrayList<>();
        postfix(links);
        return new CallArguments(List.of(links.isEmpty() ? value : new Chain(value, links)), List.of(), null, null);
    }

    CallArguments arguments() {
        tokens.enter();
        tokens.expect("(");
        List<Expression> positional = new ArrayList<>();
        List<Named> named = new ArrayList<>();
        Expression more = null;
        Expression moreNamed = null;
        while (!tokens.isAt(")")) {
            boolean isOrdered;
            if (tokens.skipIf("*")) {
                isOrdered = more == null && moreNamed == null;
                more = expressions.expression();
            } else if (tokens.skipIf("**")) {
                isOrdered = moreNamed == null;
                moreNamed = expressions.expression();
            } else if (tokens.isAt(Kind.NAME) && tokens.following().isOperator("=")) {
                isOrdered = moreNamed == null;
                String name = tokens.next().text();
                tokens.next();
                named.add(new Named(name, expressions.expression()));
            } else {
                isOrdered = more == null && moreNamed == null && named.isEmpty();
                positional.add(expressions.expression());
            }
            if (!isOrdered) {
                throw tokens.failure("the arguments of a call are in a wrong order");
            }
            if (!tokens.isAt(")")) {
                tokens.expect(",");
            }
        }
        tokens.expect(")");
        tokens.leave();
        return new CallArguments(positional, named, more, moreNamed);
    }
}
