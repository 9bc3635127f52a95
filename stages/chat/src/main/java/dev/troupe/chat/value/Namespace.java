package dev.troupe.chat.value;

/** The value of Jinja's {@code namespace()}: variables that a template may change from anywhere. */
public record Namespace(Dict variables) {
}
