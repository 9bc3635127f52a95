package dev.troupe.chat.syntax;

import java.util.List;

/** A part of a template: text, a value that is printed, or a statement between {@code {%} and {@code %}}. */
public sealed interface Statement {
    int line();

    /** Text, as it is. */
    record Text(int line, String text) implements Statement {
    }

    /** <code>{{ value }}</code>. */
    record Print(int line, Expression value) implements Statement {
    }

    /** {@code for target in values if test recursive ... else ...}; {@code test} may be null. */
    record For(int line, Target target, Expression values, Expression test, boolean isRecursive, List<Statement> body,
            List<Statement> otherwise) implements Statement {
    }

    /** {@code if ... elif ... else ...}. */
    record If(int line, List<Branch> branches, List<Statement> otherwise) implements Statement {
    }

    /** A condition with the statements that it guards. */
    record Branch(int line, Expression test, List<Statement> body) {
    }

    /** {@code with a = b, c = d}. */
    record With(int line, List<Target> targets, List<Expression> values, List<Statement> body) implements Statement {
    }

    /** {@code set target = value}. */
    record Set(int line, Target target, Expression value) implements Statement {
    }

    /** {@code set target|filter ... endset}. */
    record SetBlock(int line, Target target, List<Expression.Filter> filters,
            List<Statement> body) implements Statement {
    }

    /** {@code macro name(parameters) ... endmacro}. */
    record Macro(int line, String name, List<Parameter> parameters, List<Statement> body) implements Statement {
    }

    /** {@code call(parameters) call ... endcall}. */
    record CallBlock(int line, List<Parameter> parameters, Expression.Chain call,
            List<Statement> body) implements Statement {
    }

    /** {@code filter name ... endfilter}. */
    record FilterBlock(int line, List<Expression.Filter> filters, List<Statement> body) implements Statement {
    }

    /** {@code generation ... endgeneration}: the assistant's words. */
    record Generation(int line, List<Statement> body) implements Statement {
    }

    /** {@code break}. */
    record Break(int line) implements Statement {
    }

    /** {@code continue}. */
    record Continue(int line) implements Statement {
    }

    /** A parameter of a macro; {@code otherwise} is null if there is no default. */
    record Parameter(String name, Expression otherwise) {
    }

    /** The target of an assignment. */
    sealed interface Target {
    }

    /** A variable. */
    record Variable(String name) implements Target {
    }

    /** {@code namespace.attribute}. */
    record Member(String namespace, String attribute) implements Target {
    }

    /** {@code a, b}. */
    record Several(List<Target> targets) implements Target {
    }
}
