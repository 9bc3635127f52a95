/**
 * The certificate: what is proven of a plan before it runs, and the refusal of a plan of which it cannot be proven.
 *
 * <p>Imports the JDK, {@code dev.troupe.schedule} and {@code dev.troupe.schedule.simulator}.
 */
package dev.troupe.schedule.certificate;
