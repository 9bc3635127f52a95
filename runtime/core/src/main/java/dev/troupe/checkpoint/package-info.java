/**
 * Checkpoints on disk: one safetensors file per rank, and a manifest with their checksums that is written last.
 * Straight-line code.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.provider}, {@code dev.troupe.model},
 * {@code dev.troupe.model.family}, {@code dev.troupe.model.spec}, {@code dev.troupe.protocol},
 * {@code dev.troupe.protocol.checkpoint}, {@code dev.troupe.shard}, {@code dev.troupe.tokenizer.file},
 * {@code dev.troupe.weights}, {@code com.fasterxml.jackson} and {@code org.slf4j}.
 */
package dev.troupe.checkpoint;
