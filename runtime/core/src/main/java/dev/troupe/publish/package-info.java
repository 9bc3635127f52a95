/**
 * Models of checkpoints for other programs, and the files that they are published with.
 *
 * <p>Imports the JDK, {@code dev.troupe.checkpoint}, {@code dev.troupe.config}, {@code dev.troupe.config.spec},
 * {@code dev.troupe.engine}, {@code dev.troupe.model}, {@code dev.troupe.model.spec}, {@code dev.troupe.tokenizer},
 * {@code dev.troupe.weights}, {@code dev.troupe.weights.gguf}, {@code dev.troupe.weights.huggingface},
 * {@code dev.troupe.weights.peft} and {@code com.typesafe.config}.
 */
package dev.troupe.publish;
