/**
 * The pure machine of a rank, which walks its row, and the outbox, which logs and sends its messages. {@link StepOps} is
 * what the actions of a row mean.
 *
 * <p>Imports the JDK, {@code dev.troupe.protocol}, {@code dev.troupe.protocol.run}, {@code dev.troupe.schedule} and
 * {@code dev.troupe.schedule.certificate}.
 */
package dev.troupe.protocol.rank;
