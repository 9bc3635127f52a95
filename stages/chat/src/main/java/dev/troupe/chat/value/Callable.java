package dev.troupe.chat.value;

/** A value that a template can call: a function, a method or a macro. */
public interface Callable extends Opaque {
    Object call(Arguments arguments);
}
