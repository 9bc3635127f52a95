/**
 * The certificate: the proof of a plan before it runs, and the refusal of a plan without one.
 *
 * <p>Imports the JDK, {@code dev.troupe.schedule} and {@code dev.troupe.schedule.simulator}.
 */
package dev.troupe.schedule.certificate;
