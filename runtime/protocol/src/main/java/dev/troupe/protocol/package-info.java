/**
 * Values that the machines of the runtime share: passes, messages, commits, the settings of a run. No actor, thread,
 * clock or tensor in this package or its subpackages; only the outbox may be called by any thread, and two getters of
 * the tables of snapshots.
 */
package dev.troupe.protocol;
