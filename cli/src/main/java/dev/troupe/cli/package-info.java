/**
 * The {@code troupe} command: reads what the user wants, shows how it goes, and says plainly what was wrong.
 */
package dev.troupe.cli;
