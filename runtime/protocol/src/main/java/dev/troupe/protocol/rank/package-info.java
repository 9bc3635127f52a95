/**
 * The logic of one rank as a pure state machine: it walks the rank's row and logs what the rank has sent. {@link StepOps} is
 * what the actions of a row mean.
 *
 * <p>Imports the JDK, {@code dev.troupe.protocol}, {@code dev.troupe.protocol.run}, {@code dev.troupe.schedule} and
 * {@code dev.troupe.schedule.certificate}.
 */
package dev.troupe.protocol.rank;
