package dev.troupe.engine.provider;

/** What a run may need of an engine: to be opened in some way, or a capability. */
public sealed interface Need permits EngineSettings, Capability {
}
