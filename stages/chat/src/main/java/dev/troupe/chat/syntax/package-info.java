/**
 * The source of a chat template, read as Jinja reads it: tokens, expressions and statements.
 *
 * <p>Imports the JDK and {@code dev.troupe.chat.value}.
 */
package dev.troupe.chat.syntax;
