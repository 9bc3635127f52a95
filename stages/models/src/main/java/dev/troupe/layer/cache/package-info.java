/** The key-value cache of a text that grows token by token. */
package dev.troupe.layer.cache;
