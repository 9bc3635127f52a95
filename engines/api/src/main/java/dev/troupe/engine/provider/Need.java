package dev.troupe.engine.provider;

/** A need of a run: an engine with some settings, or with a capability. */
public sealed interface Need permits EngineSettings, Capability {
}
