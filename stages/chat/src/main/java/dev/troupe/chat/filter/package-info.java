/**
 * The filters and tests of Jinja, by their names.
 *
 * <p>Imports the JDK, {@code dev.troupe.chat.operation} and {@code dev.troupe.chat.value}.
 */
package dev.troupe.chat.filter;
