/**
 * The values that a chat template works with: those of Python, and Jinja's own.
 *
 * <p>Imports the JDK.
 */
package dev.troupe.chat.value;
