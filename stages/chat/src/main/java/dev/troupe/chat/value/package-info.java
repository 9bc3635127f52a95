/**
 * The values that a chat template works with: those of Python, and Jinja's own.
 */
package dev.troupe.chat.value;
