/**
 * Injected faults: the faults of {@code dev.troupe.config.fault} strike at the points of a step where the ranks of a node
 * call their {@link dev.troupe.fault.FaultInjector}, on the messages of a {@link dev.troupe.fault.FaultyTransport}, and in
 * the results of a {@link dev.troupe.fault.FlippingHook}. In a run without faults the injector does nothing, and
 * transport and engine are the real ones.
 *
 * <p>Imports the JDK, {@code dev.troupe.checkpoint}, {@code dev.troupe.config.fault}, {@code dev.troupe.engine},
 * {@code dev.troupe.engine.check}, {@code dev.troupe.engine.provider}, {@code dev.troupe.lines},
 * {@code dev.troupe.protocol}, {@code dev.troupe.schedule}, {@code dev.troupe.tokenizer.file},
 * {@code dev.troupe.transport}, {@code dev.troupe.weights}, {@code com.fasterxml.jackson} and {@code org.slf4j}.
 */
package dev.troupe.fault;
