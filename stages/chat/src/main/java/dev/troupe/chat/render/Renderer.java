package dev.troupe.chat.render;

import dev.troupe.chat.operation.Iteration;
import dev.troupe.chat.operation.Printing;
import dev.troupe.chat.syntax.Expression;
import dev.troupe.chat.syntax.Statement;
import dev.troupe.chat.syntax.Statement.Target;
import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Namespace;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The run of a template's statements for one chat. Thread rule: one thread has it. */
final class Renderer {
    private final Analysis analysis;
    /** Marks the text of {@code {% generation %}}. */
    private final UnaryOperator<String> marking;
    private final Depth depth = new Depth();

    Renderer(Analysis analysis, UnaryOperator<String> marking) {
        this.analysis = analysis;
        this.marking = marking;
    }

    /** The end of a list of statements. */
    private enum End {
        LAST, BREAK, CONTINUE
    }

    String text(List<Statement> template, Map<String, Object> chat) {
        return captured(template, Scope.of(analysis.root(), chat));
    }

    /** Returns the text of statements that no break leaves. */
    String captured(List<Statement> statements, Scope scope) {
        StringBuilder output = new StringBuilder();
        run(statements, scope, output);
        return output.toString();
    }

    private static void append(StringBuilder output, String text) {
        Bounds.requireText((long) output.length() + text.length());
        output.append(text);
    }

    private End run(List<Statement> statements, Scope scope, StringBuilder output) {
        for (Statement statement : statements) {
            Bounds.checkTime();
            try {
                End end = run(statement, scope, output);
                if (end != End.LAST) {
                    return end;
                }
            } catch (TemplateException wrong) {
                throw wrong.at(statement.line());
            }
        }
        return End.LAST;
    }

    private End run(Statement statement, Scope scope, StringBuilder output) {
        switch (statement) {
            case Statement.Text text -> append(output, text.text());
            case Statement.Print print ->
                append(output, Printing.printed(ExpressionEvaluator.value(print.value(), scope)));
            case Statement.For loop -> {
                return loop(loop, scope, output);
            }
            case Statement.If condition -> {
                return run(chosen(condition, scope), scope, output);
            }
            case Statement.With with -> {
                return with(with, scope, output);
            }
            case Statement.Set set -> {
                requireNamespaces(set.target(), scope);
                assign(set.target(), ExpressionEvaluator.value(set.value(), scope), scope);
            }
            case Statement.SetBlock set -> {
                return setBlock(set, scope);
            }
            case Statement.Macro macro -> scope.set(macro.name(), new Macro(this, depth, analysis.macro(macro), scope));
            case Statement.CallBlock call -> {
                Macro caller = new Macro(this, depth, analysis.macro(call), scope);
                append(output,
                        Printing.printed(ExpressionEvaluator.chain(call.call(), scope, Map.of("caller", caller))));
            }
            case Statement.Generation generation -> {
                Macro body = new Macro(this, depth, analysis.macro(generation), scope);
                append(output, marking.apply(body.call(Arguments.NONE)));
            }
            case Statement.FilterBlock block -> {
                return filterBlock(block, scope, output);
            }
            case Statement.Break _ -> {
                return End.BREAK;
            }
            case Statement.Continue _ -> {
                return End.CONTINUE;
            }
        }
        return End.LAST;
    }

    private static List<Statement> chosen(Statement.If condition, Scope scope) {
        for (Statement.Branch branch : condition.branches()) {
            try {
                if (Types.isTrue(ExpressionEvaluator.value(branch.test(), scope))) {
                    return branch.body();
                }
            } catch (TemplateException wrong) {
                throw wrong.at(branch.line());
            }
        }
        return condition.otherwise();
    }

    private End with(Statement.With with, Scope scope, StringBuilder output) {
        Scope inner = scope.inside(analysis.inside(with));
        for (int i = 0; i < with.targets().size(); i++) {
            assign(with.targets().get(i), ExpressionEvaluator.value(with.values().get(i), scope), inner);
        }
        return run(with.body(), inner, output);
    }

    private End setBlock(Statement.SetBlock set, Scope scope) {
        requireNamespaces(set.target(), scope);
        Scope inner = scope.inside(analysis.inside(set));
        StringBuilder text = new StringBuilder();
        End end = run(set.body(), inner, text);
        if (end == End.LAST) {
            assign(set.target(), filtered(text.toString(), set.filters(), inner), scope);
        }
        return end;
    }

    private End filterBlock(Statement.FilterBlock block, Scope scope, StringBuilder output) {
        Scope inner = scope.inside(analysis.inside(block));
        StringBuilder text = new StringBuilder();
        End end = run(block.body(), inner, text);
        if (end == End.LAST) {
            Object filtered = filtered(text.toString(), block.filters(), inner);
            if (!Types.isText(filtered)) { // as in Jinja, which joins the parts of a text without printing them
                throw new TemplateException(
                        "{% filter %} has to make a text, and made " + Types.described(filtered));
            }
            append(output, Printing.printed(filtered));
        }
        return end;
    }

    private static Object filtered(String text, List<Expression.Filter> filters, Scope scope) {
        Object value = text;
        for (Expression.Filter filter : filters) {
            value = ExpressionEvaluator.filtered(value, filter, scope);
        }
        return value;
    }

    private static void requireNamespaces(Target target, Scope scope) {
        switch (target) {
            case Statement.Variable _ -> {
            }
            case Statement.Member member -> {
                if (!(scope.value(member.namespace()) instanceof Namespace)) {
                    throw new TemplateException(
                            "\"" + member.namespace() + "\" is no namespace, so nothing can be assigned to an"
                                    + " attribute of it");
                }
            }
            case Statement.Several several -> several.targets().forEach(one -> requireNamespaces(one, scope));
        }
    }

    private static void assign(Target target, Object value, Scope scope) {
        switch (target) {
            case Statement.Variable variable -> scope.set(variable.name(), value);
            case Statement.Member member ->
                ((Namespace) scope.value(member.namespace())).variables().put(member.attribute(), value);
            case Statement.Several several -> {
                List<Object> values = Iteration.list(value);
                if (values.size() != several.targets().size()) {
                    throw new TemplateException("expected " + several.targets().size() + " values to assign, found "
                            + values.size());
                }
                for (int i = 0; i < values.size(); i++) {
                    assign(several.targets().get(i), values.get(i), scope);
                }
            }
        }
    }

    private End loop(Statement.For loop, Scope scope, StringBuilder output) {
        Object values = ExpressionEvaluator.value(loop.values(), scope);
        if (loop.isRecursive()) {
            append(output, depth.deeper(() -> recursive(loop, scope, values, 0)));
            return End.LAST;
        }
        return loop(loop, scope, new LoopState(elements(loop, values, scope), null, 0), output);
    }

    /** Returns the text of a recursive loop, which its body can render again with other values. */
    private String recursive(Statement.For loop, Scope scope, Object values, int level) {
        StringBuilder output = new StringBuilder();
        LoopState state = new LoopState(elements(loop, values, scope),
                inner -> depth.deeper(() -> recursive(loop, scope, inner, level + 1)), level);
        loop(loop, scope, state, output);
        return output.toString();
    }

    private Object elements(Statement.For loop, Object values, Scope scope) {
        if (loop.test() == null) {
            return values;
        }
        Iterator<Object> all = Iteration.of(values);
        Scope test = scope.inside(analysis.test(loop));
        Iterator<Object> chosen = Iteration.filtered(all, value -> {
            assign(loop.target(), value, test);
            return Types.isTrue(ExpressionEvaluator.value(loop.test(), test));
        }).elements();
        // As in Jinja, the element of a loop with several variables is the tuple of them.
        return Iteration.mapped(chosen, value -> unpacked(loop.target(), value));
    }

    private static Object unpacked(Target target, Object value) {
        if (!(target instanceof Statement.Several several)) {
            return value;
        }
        List<Object> values = Iteration.list(value);
        List<Object> unpacked = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            unpacked.add(unpacked(several.targets().get(i), values.get(i)));
        }
        return Tuple.of(unpacked);
    }

    private End loop(Statement.For loop, Scope scope, LoopState state, StringBuilder output) {
        boolean isComplete = false; // as in Jinja: no element has come to the end of the body
        while (state.hasNext()) {
            Scope inner = scope.inside(analysis.inside(loop));
            inner.set("loop", state);
            assign(loop.target(), state.next(), inner);
            End end = run(loop.body(), inner, output);
            if (end == End.BREAK) {
                break;
            }
            isComplete |= end == End.LAST;
        }
        if (isComplete || loop.otherwise().isEmpty()) {
            return End.LAST;
        }
        return run(loop.otherwise(), scope.inside(analysis.otherwise(loop)), output);
    }
}
