/**
 * What a run is to be: a HOCON file and the settings of the command line become one validated, immutable
 * {@link dev.troupe.config.RunSpec}.
 *
 * <p>Every wrong value is reported at once, as {@link dev.troupe.config.Problem}s of one
 * {@link dev.troupe.config.ConfigException}. This package imports the JDK and Typesafe config only; the names of
 * schedules, engines and layouts are plain text here and are understood by the modules that own them. Environment
 * variables and system properties are never read.
 */
package dev.troupe.config;
