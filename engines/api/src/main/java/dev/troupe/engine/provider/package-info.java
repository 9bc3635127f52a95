/**
 * The way to an engine: {@link dev.troupe.engine.provider.EngineProvider} opens it, for the needs of a run, with a clock
 * beside an engine that does not compute.
 */
package dev.troupe.engine.provider;
