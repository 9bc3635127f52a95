/**
 * The configuration of a run: a HOCON file and the settings of the command line become one validated, immutable
 * {@link dev.troupe.config.RunSpec}.
 *
 * <p>A key has three declarations: its default, reason and tags in {@code troupe-defaults.conf}; a component of a record
 * in {@code spec}, with the line that reads it; and its use. The file of a run, {@code troupe keys}, the completion of
 * shells, and the comparison of nodes follow from these.
 *
 * <p>Every wrong value is reported at once, as {@link dev.troupe.config.problem.Problem}s of one
 * {@link dev.troupe.config.problem.ConfigException}. Environment variables and system properties are never read.
 */
package dev.troupe.config;
