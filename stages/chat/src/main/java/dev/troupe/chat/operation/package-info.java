/** Python's operators, look-ups, methods and formats on the values of a template. Repetition and growth are bounded. */
package dev.troupe.chat.operation;
