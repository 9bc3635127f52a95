package dev.troupe.chat.value;

/**
 * The value of a variable, an attribute or an item that is not there: it prints as nothing, is false, has no elements,
 * and fails when anything else is done with it.
 *
 * @param reason why it is not there, as the error says
 */
public record Undefined(String reason) {
    /** A variable that is not there. */
    public static Undefined variable(String name) {
        return new Undefined("\"" + name + "\" is undefined");
    }

    /** The error of doing something with it. */
    public TemplateException failure() {
        return new TemplateException(reason);
    }
}
