/** The entry point of {@code troupe}, and the commands without a package of their own. */
package dev.troupe.cli;
