/**
 * The discovery and opening of engines: {@link dev.troupe.engine.provider.EngineProvider}, the needs of a run, and the clock
 * of an engine that does not compute.
 */
package dev.troupe.engine.provider;
