/**
 * The language of faults: the kind, place and time of a fault in one line of text. Pure; the runtime injects the faults.
 *
 * <p>Imports the JDK and {@code dev.troupe.config.problem}.
 */
package dev.troupe.config.fault;
