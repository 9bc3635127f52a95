package dev.troupe.chat.syntax;

import dev.troupe.chat.syntax.Token.Kind;
import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.TemplateException;
import java.util.List;

/** The tokens of a template, with the parser's place and depth. */
final class TokenCursor {
    /**
     * Brackets, operators and statements inside each other; Python's own limit of calls ends Jinja's parser at some
     * sixty brackets.
     */
    private static final int DEEPEST = 200;

    private final List<Token> all;
    private int at;
    private int depth;

    TokenCursor(List<Token> all) {
        this.all = all;
    }

    Token current() {
        return all.get(at);
    }

    Token following() {
        return all.get(Math.min(at + 1, all.size() - 1));
    }

    int line() {
        return current().line();
    }

    /** Advances by one token, and returns the one before. */
    Token next() {
        Bounds.checkTime();
        Token token = current();
        if (token.kind() != Kind.END) {
            at++;
        }
        return token;
    }

    boolean isAt(Kind kind) {
        return current().kind() == kind;
    }

    boolean isAt(String operator) {
        return current().isOperator(operator);
    }

    boolean isAtName(String name) {
        return current().isName(name);
    }

    boolean skipIf(String operator) {
        return isAt(operator) && next() != null;
    }

    boolean skipIfName(String name) {
        return isAtName(name) && next() != null;
    }

    Token expect(Kind kind, String described) {
        if (!isAt(kind)) {
            throw unexpected(described);
        }
        return next();
    }

    void expect(String operator) {
        if (!skipIf(operator)) {
            throw unexpected("\"" + operator + "\"");
        }
    }

    void expectName(String name) {
        if (!skipIfName(name)) {
            throw unexpected("\"" + name + "\"");
        }
    }

    TemplateException unexpected(String expected) {
        return failure("expected " + expected + ", found " + current().described());
    }

    TemplateException failure(String message) {
        return TemplateException.inLine(line(), message);
    }

    void enter() {
        if (++depth > DEEPEST) {
            throw failure("expressions and statements are nested more than " + DEEPEST + " deep");
        }
    }

    void leave() {
        depth--;
    }
}
