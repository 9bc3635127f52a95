package dev.troupe.chat.value;

/**
 * The value of Jinja's {@code namespace()}: variables that a template may change from anywhere.
 *
 * @param variables the variables
 */
public record Namespace(Dict variables) {
}
