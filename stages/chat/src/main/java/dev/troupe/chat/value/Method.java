package dev.troupe.chat.value;

import java.util.function.Function;

/** A method of a value, or a function for templates. */
public record Method(String name, Function<Arguments, Object> body) implements Callable {
    @Override
    public Object call(Arguments arguments) {
        return body.apply(arguments);
    }
}
