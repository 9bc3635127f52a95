package dev.troupe.chat.render;

import dev.troupe.chat.syntax.Expression;
import dev.troupe.chat.syntax.Statement;
import dev.troupe.chat.syntax.Statement.Parameter;
import dev.troupe.chat.syntax.Statement.Target;
import java.util.List;
import java.util.function.Consumer;

/** The names that expressions read, and that whole statements read and set. */
final class Names {
    private final Consumer<String> reads;
    private final Consumer<String> sets;

    /**
     * @param reads receives each name that is read, in the order of the template
     * @param sets receives each name that is set, in the order of the template
     */
    Names(Consumer<String> reads, Consumer<String> sets) {
        this.reads = reads;
        this.sets = sets;
    }

    static void read(Expression expression, Consumer<String> reads) {
        new Names(reads, _ -> {
        }).visit(expression);
    }

    void visit(Expression expression) {
        if (expression instanceof Expression.Name name) {
            reads.accept(name.name());
        } else if (expression != null) {
            expression.parts().forEach(this::visit);
        }
    }

    private void visitFilters(List<Expression.Filter> filters) {
        filters.forEach(filter -> filter.parts().forEach(this::visit));
    }

    void visit(Target target) {
        switch (target) {
            case Statement.Variable variable -> sets.accept(variable.name());
            case Statement.Member _ -> {
            }
            case Statement.Several several -> several.targets().forEach(this::visit);
        }
    }

    private void visitParameters(List<Parameter> parameters) {
        parameters.forEach(parameter -> sets.accept(parameter.name()));
        parameters.forEach(parameter -> visit(parameter.otherwise()));
    }

    /** Visits all statements, including those inside others. */
    void visit(List<Statement> statements) {
        statements.forEach(this::visit);
    }

    private void visit(Statement statement) {
        switch (statement) {
            case Statement.Text _,Statement.Break _,Statement.Continue _ -> {
            }
            case Statement.Print print -> visit(print.value());
            case Statement.For loop -> {
                visit(loop.target());
                visit(loop.values());
                visit(loop.body());
                visit(loop.otherwise());
                visit(loop.test());
            }
            case Statement.If condition -> {
                condition.branches().forEach(branch -> {
                    visit(branch.test());
                    visit(branch.body());
                });
                visit(condition.otherwise());
            }
            case Statement.With with -> {
                with.targets().forEach(this::visit);
                with.values().forEach(this::visit);
                visit(with.body());
            }
            case Statement.Set set -> {
                visit(set.target());
                visit(set.value());
            }
            case Statement.SetBlock set -> {
                visit(set.target());
                visitFilters(set.filters());
                visit(set.body());
            }
            case Statement.Macro macro -> {
                visitParameters(macro.parameters());
                visit(macro.body());
            }
            case Statement.CallBlock call -> {
                visit(call.call());
                visitParameters(call.parameters());
                visit(call.body());
            }
            case Statement.FilterBlock filter -> {
                visit(filter.body());
                visitFilters(filter.filters());
            }
            case Statement.Generation generation -> visit(generation.body());
        }
    }
}
