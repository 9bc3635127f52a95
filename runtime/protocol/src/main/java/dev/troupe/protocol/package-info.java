/**
 * Values that the machines of the runtime share: passes, messages, commits, the settings of a run. No actor, thread, clock
 * or tensor in this package or its subpackages; the outbox and the tables of snapshots may be called by several threads.
 *
 * <p>Imports the JDK.
 */
package dev.troupe.protocol;
