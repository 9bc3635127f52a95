package dev.troupe.chat.value;

/**
 * The value of a missing variable, attribute or item: it prints as nothing, is false, has no elements, and fails in any
 * other use.
 *
 * @param reason the reason why it is missing, for the error
 */
public record Undefined(String reason) {
    public static Undefined variable(String name) {
        return new Undefined("\"" + name + "\" is undefined");
    }

    public TemplateException failure() {
        return new TemplateException(reason);
    }
}
