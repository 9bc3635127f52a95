/**
 * Faults on purpose: what {@code dev.troupe.config.fault} describes is done here, at the points of a step where the ranks
 * of a node call their {@link dev.troupe.fault.FaultInjector}, and on the messages that go through a
 * {@link dev.troupe.fault.FaultyTransport}. A run without faults has neither on its path. Imports transport and
 * checkpoint, no actor.
 */
package dev.troupe.fault;
