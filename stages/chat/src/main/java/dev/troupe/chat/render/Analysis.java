package dev.troupe.chat.render;

import dev.troupe.chat.syntax.Expression;
import dev.troupe.chat.syntax.Statement;
import dev.troupe.chat.syntax.Statement.Parameter;
import dev.troupe.chat.syntax.Statement.Target;
import dev.troupe.chat.value.TemplateException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The analysis of a template before it runs, as by Jinja's compiler: the names of each part with variables of its own, and
 * errors such as an unknown filter or a break outside a loop.
 */
final class Analysis {
    private static final Set<String> SPECIAL = Set.of("caller", "kwargs", "varargs");

    private final Symbols root = new Symbols(null);
    private boolean marksAnswers;
    private final Map<Statement, Symbols> symbols = new IdentityHashMap<>();
    private final Map<Statement, Symbols> tests = new IdentityHashMap<>();
    private final Map<Statement, Symbols> otherwise = new IdentityHashMap<>();
    private final Map<Statement, MacroShape> macros = new IdentityHashMap<>();

    Analysis(List<Statement> template) {
        template.forEach(statement -> collect(statement, root));
        descend(template, new Place(root, false, false, false));
    }

    /**
     * The place of statements.
     *
     * @param isConditional whether they are inside an {@code if}, so that an unknown filter is an error only when it is used
     * @param isInLoop whether they can leave a loop
     * @param isBelowLoop whether a loop is around them, perhaps with a macro between
     */
    private record Place(Symbols symbols, boolean isConditional, boolean isInLoop, boolean isBelowLoop) {
        Place inside(Symbols inner) {
            return new Place(inner, false, isInLoop, isBelowLoop);
        }

        Place conditional() {
            return new Place(symbols, true, isInLoop, isBelowLoop);
        }
    }

    /** Returns whether there is a {@code {% generation %}}. */
    boolean marksAnswers() {
        return marksAnswers;
    }

    Symbols root() {
        return root;
    }

    /** Returns the names inside a statement; for a loop the names of its body. */
    Symbols inside(Statement statement) {
        return symbols.get(statement);
    }

    Symbols test(Statement.For loop) {
        return tests.get(loop);
    }

    Symbols otherwise(Statement.For loop) {
        return otherwise.get(loop);
    }

    MacroShape macro(Statement statement) {
        return macros.get(statement);
    }

    /** Adds the names of a statement to those around it. */
    private static void collect(Statement statement, Symbols names) {
        switch (statement) {
            case Statement.Text _,Statement.Break _,Statement.Continue _,Statement.Generation _ -> {
            }
            case Statement.Print print -> Names.read(print.value(), names::load);
            case Statement.For loop -> Names.read(loop.values(), names::load);
            case Statement.If condition -> collect(condition, names);
            case Statement.With with -> with.values().forEach(value -> Names.read(value, names::load));
            case Statement.Set set -> {
                Names.read(set.value(), names::load);
                store(set.target(), names, false);
            }
            case Statement.SetBlock set -> store(set.target(), names, false);
            case Statement.Macro macro -> names.store(macro.name());
            case Statement.CallBlock call -> Names.read(call.call(), names::load);
            case Statement.FilterBlock block -> read(block.filters(), names);
        }
    }

    private static void read(List<Expression.Filter> filters, Symbols names) {
        filters.stream().flatMap(Expression.Filter::parts).forEach(part -> Names.read(part, names::load));
    }

    private static void collect(Statement.If condition, Symbols names) {
        // Jinja reads the first test before it parts the branches, and the others in a branch of their own.
        Names.read(condition.branches().getFirst().test(), names::load);
        Symbols first = names.branch();
        condition.branches().getFirst().body().forEach(inner -> collect(inner, first));
        Symbols others = names.branch();
        condition.branches().stream().skip(1).forEach(branch -> {
            Names.read(branch.test(), others::load);
            Symbols body = others.branch();
            branch.body().forEach(inner -> collect(inner, body));
            others.merge(List.of(body, others.branch(), others.branch()));
        });
        Symbols last = names.branch();
        condition.otherwise().forEach(inner -> collect(inner, last));
        names.merge(List.of(first, others, last));
    }

    private static void store(Target target, Symbols names, boolean asParameter) {
        switch (target) {
            case Statement.Variable variable when asParameter -> names.parameter(variable.name());
            case Statement.Variable variable -> names.store(variable.name());
            case Statement.Member member -> names.load(member.namespace());
            case Statement.Several several -> several.targets().forEach(one -> store(one, names, asParameter));
        }
    }

    private void descend(List<Statement> statements, Place place) {
        for (Statement statement : statements) {
            try {
                descend(statement, place);
            } catch (TemplateException wrong) {
                throw wrong.at(statement.line());
            }
        }
    }

    private void descend(Statement statement, Place place) {
        KnownNames known = new KnownNames(place.isConditional());
        switch (statement) {
            case Statement.Text _ -> {
            }
            case Statement.Print print -> known.check(print.value());
            case Statement.For loop -> {
                known.check(loop.values());
                descendLoop(loop, place);
            }
            case Statement.If condition -> {
                Place inside = place.conditional();
                condition.branches().forEach(branch -> {
                    new KnownNames(true).check(branch.test());
                    descend(branch.body(), inside);
                });
                descend(condition.otherwise(), inside);
            }
            case Statement.With with -> {
                with.values().forEach(known::check);
                Symbols inner = inner(with, place);
                with.targets().forEach(target -> store(target, inner, true));
                descendInto(with.body(), place.inside(inner));
            }
            case Statement.Set set -> {
                known.check(set.value());
                requireNoLoop(set.target(), place);
            }
            case Statement.SetBlock set -> {
                requireNoLoop(set.target(), place);
                set.filters().forEach(new KnownNames(false)::check);
                descendInto(set.body(), place.inside(inner(set, place)));
            }
            case Statement.Macro macro -> macro(macro, macro.name(), macro.parameters(), macro.body(), place);
            case Statement.CallBlock call -> {
                known.check(call.call());
                macro(call, null, call.parameters(), call.body(), place);
            }
            case Statement.Generation generation -> {
                marksAnswers = true;
                macro(generation, null, List.of(), generation.body(), place);
            }
            case Statement.FilterBlock block -> {
                Symbols inner = inner(block, place);
                block.body().forEach(one -> collect(one, inner));
                read(block.filters(), inner);
                block.filters().forEach(new KnownNames(false)::check);
                descend(block.body(), place.inside(inner));
            }
            case Statement.Break _,Statement.Continue _ -> {
                if (!place.isInLoop()) {
                    throw new TemplateException("{% break %} or {% continue %} is not in a loop");
                }
            }
        }
    }

    private Symbols inner(Statement statement, Place place) {
        Symbols inner = new Symbols(place.symbols());
        symbols.put(statement, inner);
        return inner;
    }

    private void descendInto(List<Statement> body, Place place) {
        body.forEach(statement -> collect(statement, place.symbols()));
        descend(body, place);
    }

    private void descendLoop(Statement.For loop, Place place) {
        Place below = new Place(place.symbols(), place.isConditional(), place.isInLoop(), true);
        requireNoLoop(loop.target(), below);
        Symbols body = inner(loop, place);
        body.parameter("loop");
        store(loop.target(), body, true);
        Symbols test = new Symbols(place.symbols());
        store(loop.target(), test, true);
        Names.read(loop.test(), test::load);
        tests.put(loop, test);
        new KnownNames(false).check(loop.test());
        descendInto(loop.body(), new Place(body, false, true, true));
        Symbols last = new Symbols(place.symbols());
        otherwise.put(loop, last);
        descendInto(loop.otherwise(), new Place(last, false, place.isInLoop() && !loop.isRecursive(), true));
    }

    private static void requireNoLoop(Target target, Place place) {
        new Names(_ -> {
        }, name -> {
            if (name.equals("loop") && place.isBelowLoop()) {
                throw new TemplateException("nothing can be assigned to \"loop\" in a loop");
            }
        }).visit(target);
    }

    private void macro(Statement statement, String name, List<Parameter> parameters, List<Statement> body,
            Place place) {
        Symbols inner = inner(statement, place);
        parameters.forEach(parameter -> inner.parameter(parameter.name()));
        parameters.forEach(parameter -> Names.read(parameter.otherwise(), inner::load));
        parameters.forEach(parameter -> new KnownNames(false).check(parameter.otherwise()));
        body.forEach(one -> collect(one, inner));
        Set<String> special = special(body);
        Set<String> declared = new HashSet<>();
        parameters.forEach(parameter -> {
            declared.add(parameter.name());
            if (parameter.name().equals("caller") && special.contains("caller") && parameter.otherwise() == null) {
                throw new TemplateException("the parameter \"caller\" of a macro needs a default");
            }
        });
        for (String one : special) {
            if (!declared.contains(one)) {
                inner.parameter(one);
            }
        }
        macros.put(statement, new MacroShape(name, parameters, body, inner, special.contains("caller"),
                special.contains("kwargs") && !declared.contains("kwargs"),
                special.contains("varargs") && !declared.contains("varargs")));
        descend(body, new Place(inner, false, false, place.isBelowLoop()));
    }

    /** Returns the special names that statements read before they set them. */
    private static Set<String> special(List<Statement> body) {
        Set<String> found = new HashSet<>();
        List<String> left = new ArrayList<>(SPECIAL);
        new Names(name -> {
            if (left.contains(name)) {
                found.add(name);
            }
        }, left::remove).visit(body);
        return found;
    }
}
