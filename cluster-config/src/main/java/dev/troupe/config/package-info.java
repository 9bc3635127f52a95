/**
 * The configuration of a run: a HOCON file and the settings of the command line become one validated, immutable
 * {@link dev.troupe.config.RunSpec}.
 *
 * <p>Every wrong value is reported at once, as {@link dev.troupe.config.problem.Problem}s of one
 * {@link dev.troupe.config.problem.ConfigException}. Environment variables and system properties are never read.
 */
package dev.troupe.config;
