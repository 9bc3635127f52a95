package dev.troupe.chat.syntax;

import dev.troupe.chat.syntax.Expression.Chain;
import dev.troupe.chat.syntax.Statement.Branch;
import dev.troupe.chat.syntax.Statement.Member;
import dev.troupe.chat.syntax.Statement.Parameter;
import dev.troupe.chat.syntax.Statement.Several;
import dev.troupe.chat.syntax.Statement.Target;
import dev.troupe.chat.syntax.Statement.Variable;
import dev.troupe.chat.syntax.Token.Kind;
import java.util.ArrayList;
import java.util.List;

/** The parser of a template's statements by Jinja's grammar. */
public final class TemplateParser {
    private final TokenCursor tokens;
    private final ExpressionParser expressions;

    private TemplateParser(TokenCursor tokens) {
        this.tokens = tokens;
        this.expressions = new ExpressionParser(tokens);
    }

    /**
     * Returns the statements of a template.
     *
     * @throws dev.troupe.chat.value.TemplateException if it is none; the message has the expected token, the error the line
     */
    public static List<Statement> statements(String template) {
        TemplateParser parser = new TemplateParser(new TokenCursor(Lexer.tokens(template)));
        return parser.until();
    }

    /** Reads the statements up to a tag of one of the names, which is the next token; without names up to the end. */
    private List<Statement> until(String... ends) {
        List<Statement> statements = new ArrayList<>();
        int begin = tokens.line();
        while (!tokens.isAt(Kind.END)) {
            int line = tokens.line();
            switch (tokens.current().kind()) {
                case DATA -> statements.add(new Statement.Text(line, tokens.next().text()));
                case PRINT_BEGIN -> {
                    tokens.next();
                    statements.add(new Statement.Print(line, expressions.tuple()));
                    tokens.expect(Kind.PRINT_END, "}}");
                }
                default -> {
                    tokens.next();
                    if (List.of(ends).contains(tokens.current().text()) && tokens.isAt(Kind.NAME)) {
                        return statements;
                    }
                    statements.addAll(statement(ends));
                    tokens.expect(Kind.TAG_END, "%}");
                }
            }
        }
        if (ends.length > 0) {
            throw tokens.failure("the template ends before {% " + String.join(" or ", ends) + " %} of line " + begin);
        }
        return statements;
    }

    /** Reads the statements between the present tag and the one of a name, which is skipped. */
    private List<Statement> body(String end) {
        List<Statement> body = bodyUntil(end);
        tokens.next();
        return body;
    }

    private List<Statement> bodyUntil(String... ends) {
        tokens.skipIf(":");
        tokens.expect(Kind.TAG_END, "%}");
        tokens.enter();
        List<Statement> body = until(ends);
        tokens.leave();
        return body;
    }

    private List<Statement> statement(String[] ends) {
        int line = tokens.line();
        String name = tokens.expect(Kind.NAME, "the name of a tag").text();
        return switch (name) {
            case "for" -> List.of(loop(line));
            case "if" -> List.of(condition(line));
            case "set" -> List.of(assignment(line));
            case "with" -> List.of(with(line));
            case "macro" -> {
                String macro = tokens.expect(Kind.NAME, "the name of a macro").text();
                yield List.of(new Statement.Macro(line, macro, parameters(), body("endmacro")));
            }
            case "call" -> List.of(callBlock(line));
            case "filter" ->
                List.of(new Statement.FilterBlock(line, expressions.filters(true), body("endfilter")));
            case "generation" -> List.of(new Statement.Generation(line, body("endgeneration")));
            case "print" -> printed(line);
            case "break" -> List.of(new Statement.Break(line));
            case "continue" -> List.of(new Statement.Continue(line));
            case "include", "import", "from", "extends", "block" -> throw tokens.failure(
                    "{% " + name + " %} needs other templates, and a chat template has none");
            case "autoescape" -> throw tokens.failure("{% autoescape %} is not supported");
            default -> throw tokens.failure("there is no tag \"" + name + "\" here"
                    + (ends.length > 0 ? "; expected " + String.join(" or ", ends) : ""));
        };
    }

    private Statement loop(int line) {
        Target target = target(false, true);
        tokens.expectName("in");
        Expression values = expressions.tuple(expressions::any, false, token -> token.isName("recursive"));
        Expression test = tokens.skipIfName("if") ? expressions.expression() : null;
        boolean isRecursive = tokens.skipIfName("recursive");
        List<Statement> body = bodyUntil("endfor", "else");
        List<Statement> otherwise = tokens.next().isName("else") ? body("endfor") : List.of();
        return new Statement.For(line, target, values, test, isRecursive, body, otherwise);
    }

    private Statement condition(int line) {
        List<Branch> branches = new ArrayList<>();
        int begin = line;
        while (true) {
            Expression test = expressions.tuple(expressions::any, false, _ -> false);
            branches.add(new Branch(begin, test, bodyUntil("elif", "else", "endif")));
            begin = tokens.line();
            Token end = tokens.next();
            if (!end.isName("elif")) {
                return new Statement.If(line, branches, end.isName("else") ? body("endif") : List.of());
            }
        }
    }

    private Statement assignment(int line) {
        Target target = target(true, false);
        if (tokens.skipIf("=")) {
            return new Statement.Set(line, target, expressions.tuple());
        }
        return new Statement.SetBlock(line, target, expressions.filters(false), body("endset"));
    }

    private Statement with(int line) {
        List<Target> targets = new ArrayList<>();
        List<Expression> values = new ArrayList<>();
        while (!tokens.isAt(Kind.TAG_END)) {
            if (!targets.isEmpty()) {
                tokens.expect(",");
            }
            targets.add(target(false, false));
            tokens.expect("=");
            values.add(expressions.expression());
        }
        return new Statement.With(line, targets, values, body("endwith"));
    }

    private List<Parameter> parameters() {
        List<Parameter> parameters = new ArrayList<>();
        tokens.expect("(");
        while (!tokens.isAt(")")) {
            if (!parameters.isEmpty()) {
                tokens.expect(",");
            }
            String name = tokens.expect(Kind.NAME, "the name of a parameter").text();
            Expression otherwise = tokens.skipIf("=") ? expressions.expression() : null;
            if (otherwise == null && !parameters.isEmpty() && parameters.getLast().otherwise() != null) {
                throw tokens.failure("the parameter \"" + name + "\" has no default, but the one before it has");
            }
            if (parameters.stream().anyMatch(parameter -> parameter.name().equals(name))) {
                throw tokens.failure("two parameters have the name \"" + name + "\"");
            }
            parameters.add(new Parameter(name, otherwise));
        }
        tokens.expect(")");
        return parameters;
    }

    private Statement callBlock(int line) {
        List<Parameter> parameters = tokens.isAt("(") ? parameters() : List.of();
        Expression call = expressions.expression();
        if (!(call instanceof Chain chain) || !(chain.links().getLast() instanceof Expression.Call)) {
            throw tokens.failure("{% call %} expects a call");
        }
        return new Statement.CallBlock(line, parameters, chain, body("endcall"));
    }

    private List<Statement> printed(int line) {
        List<Statement> printed = new ArrayList<>();
        while (!tokens.isAt(Kind.TAG_END)) {
            if (!printed.isEmpty()) {
                tokens.expect(",");
            }
            printed.add(new Statement.Print(line, expressions.expression()));
        }
        return printed;
    }

    private Target target(boolean takesMembers, boolean endsAtIn) {
        List<Target> targets = new ArrayList<>();
        boolean isTuple = false;
        while (!(endsAtIn && tokens.isAtName("in")) && !tokens.isAt(Kind.TAG_END) && !tokens.isAt("=")
                && !tokens.isAt("|")) {
            if (takesMembers && tokens.isAt(Kind.NAME) && tokens.following().isOperator(".")) {
                String namespace = tokens.next().text();
                tokens.next();
                targets.add(new Member(namespace, tokens.expect(Kind.NAME, "the name of an attribute").text()));
            } else {
                targets.add(assignable(expressions.primary()));
            }
            if (!tokens.skipIf(",")) {
                break;
            }
            isTuple = true;
        }
        if (targets.isEmpty()) {
            throw tokens.unexpected("the name of a variable");
        }
        return isTuple ? new Several(targets) : targets.getFirst();
    }

    private Target assignable(Expression expression) {
        return switch (expression) {
            case Expression.Name name -> new Variable(name.name());
            case Expression.TupleOf tuple -> new Several(tuple.items().stream().map(this::assignable).toList());
            default -> throw tokens.failure("nothing can be assigned to this; expected a variable");
        };
    }
}
