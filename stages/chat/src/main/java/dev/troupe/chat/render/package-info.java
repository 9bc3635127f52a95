/**
 * Jinja as transformers sets it up: a template that was read makes a text of the variables of a chat.
 *
 * <p>Imports the JDK, {@code dev.troupe.chat.filter}, {@code dev.troupe.chat.operation}, {@code
 * dev.troupe.chat.syntax} and {@code dev.troupe.chat.value}.
 */
package dev.troupe.chat.render;
