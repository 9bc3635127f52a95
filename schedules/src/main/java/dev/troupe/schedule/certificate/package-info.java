/**
 * The certificate: what is proven of a plan before it runs, and the refusal of a plan of which it cannot be proven.
 *
 * <p>Imports {@code dev.troupe.schedule}, its simulator and the JDK only.
 */
package dev.troupe.schedule.certificate;
