/**
 * Injected faults: the faults of {@code dev.troupe.config.fault} strike at the points of a step where the ranks of a node
 * call their {@link dev.troupe.fault.FaultInjector}, on the messages of a {@link dev.troupe.fault.FaultyTransport}, and in
 * the results of a {@link dev.troupe.fault.FlippingHook}. In a run without faults the injector does nothing, and
 * transport and engine are the real ones.
 */
package dev.troupe.fault;
