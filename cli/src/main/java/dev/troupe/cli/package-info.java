/**
 * The door of {@code troupe}, and those of its commands that have no package of their own.
 */
package dev.troupe.cli;
