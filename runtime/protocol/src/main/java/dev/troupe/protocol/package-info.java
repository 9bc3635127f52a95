/**
 * Values that the machines of the runtime share: passes, messages, commits, the settings of a run. This package and its
 * subpackages have no actor, thread, clock or tensor. Any thread may call {@code Outbox}, and the getters of snapshot tables
 * that document it; all other classes have one caller at a time.
 */
package dev.troupe.protocol;
