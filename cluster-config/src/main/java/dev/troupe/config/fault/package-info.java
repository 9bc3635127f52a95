/**
 * The language of faults: what is to go wrong in a run, where and when, in one line of text. Pure; what a fault does is
 * the runtime's.
 *
 * <p>Imports the JDK and {@code dev.troupe.config.problem}.
 */
package dev.troupe.config.fault;
