package dev.troupe.chat.render;

import dev.troupe.chat.filter.Filters;
import dev.troupe.chat.filter.Tests;
import dev.troupe.chat.syntax.Expression;
import dev.troupe.chat.syntax.Expression.Link;

/** The check that the filters and tests of expressions exist, as in Jinja when it reads a template. */
final class KnownNames {
    /** Whether a condition guards the expression, so that an unknown name is an error only when it is computed. */
    private final boolean isConditional;

    KnownNames(boolean isConditional) {
        this.isConditional = isConditional;
    }

    void check(Expression expression) {
        switch (expression) {
            case null -> {
            }
            case Expression.Choice choice -> choice.parts().forEach(new KnownNames(true)::check);
            case Expression.Chain chain -> {
                check(chain.base());
                chain.links().forEach(this::check);
            }
            default -> expression.parts().forEach(this::check);
        }
    }

    void check(Link link) {
        if (!isConditional && link instanceof Expression.Filter filter && !Filters.isKnown(filter.name())) {
            throw Filters.unknown(filter.name()).at(filter.line());
        }
        if (!isConditional && link instanceof Expression.Test test && !Tests.isKnown(test.name())) {
            throw Tests.unknown(test.name()).at(test.line());
        }
        link.parts().forEach(this::check);
    }
}
