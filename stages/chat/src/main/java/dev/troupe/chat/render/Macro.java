package dev.troupe.chat.render;

import dev.troupe.chat.operation.Printing;
import dev.troupe.chat.syntax.Statement.Parameter;
import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Callable;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Undefined;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A macro, or the body of a call, with the variables around it.
 *
 * @param shape the macro as it was read
 */
record Macro(Renderer renderer, Depth depth, MacroShape shape, Scope around) implements Callable {
    private static final String CALLER = "caller";

    @Override
    public String call(Arguments arguments) {
        List<Parameter> parameters = shape.parameters();
        Scope scope = around.inside(shape.symbols());
        Map<String, Object> named = new LinkedHashMap<>(arguments.named());
        int given = Math.min(parameters.size(), arguments.positional().size());
        boolean hasCaller = given == parameters.size() && isParameter(CALLER);
        for (int i = 0; i < parameters.size(); i++) {
            String name = parameters.get(i).name();
            scope.set(name, i < given ? arguments.positional().get(i) : named.remove(name));
            hasCaller |= i >= given && name.equals(CALLER);
        }
        if (shape.takesCaller() && !hasCaller) {
            Object caller = named.remove(CALLER);
            scope.set(CALLER, caller == null || caller == None.NONE ? new Undefined("no caller is there") : caller);
        }
        takeMore(scope, arguments, named, given);
        return depth.deeper(() -> {
            setDefaults(scope);
            return renderer.captured(shape.body(), scope);
        });
    }

    private boolean isParameter(String name) {
        return shape.parameters().stream().anyMatch(parameter -> parameter.name().equals(name));
    }

    private void takeMore(Scope scope, Arguments arguments, Map<String, Object> named, int given) {
        if (shape.takesNamed()) {
            Dict dict = new Dict();
            named.forEach(dict::put);
            scope.set("kwargs", dict);
        } else if (!named.isEmpty()) {
            throw new TemplateException(
                    printed() + " takes no argument of the name \"" + named.keySet().iterator().next() + "\"");
        }
        List<Object> more = arguments.positional().subList(given, arguments.positional().size());
        if (shape.takesMore()) {
            scope.set("varargs", Tuple.of(new ArrayList<>(more)));
        } else if (!more.isEmpty()) {
            throw new TemplateException(printed() + " takes at most " + given + " arguments, found "
                    + arguments.positional().size());
        }
    }

    private void setDefaults(Scope scope) {
        for (Parameter parameter : shape.parameters()) {
            if (scope.valueOrNull(parameter.name()) == null) {
                scope.set(parameter.name(), parameter.otherwise() == null
                        ? new Undefined("the parameter \"" + parameter.name() + "\" was not given")
                        : ExpressionEvaluator.value(parameter.otherwise(), scope));
            }
        }
    }

    @Override
    public Object attribute(String name) {
        return switch (name) {
            case "name" -> shape.name() == null ? None.NONE : shape.name();
            case "arguments" -> Tuple.of(new ArrayList<>(shape.parameters().stream().map(Parameter::name).toList()));
            case "catch_kwargs" -> shape.takesNamed();
            case "catch_varargs" -> shape.takesMore();
            case CALLER -> shape.takesCaller();
            case "explicit_caller" -> isParameter(CALLER);
            default -> null;
        };
    }

    @Override
    public String printed() {
        return "<Macro " + (shape.name() == null ? "anonymous" : Printing.written(shape.name())) + ">";
    }
}
