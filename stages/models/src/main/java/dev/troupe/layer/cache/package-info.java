/**
 * What a text that grows token by token keeps of its places.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.layer.cache;
