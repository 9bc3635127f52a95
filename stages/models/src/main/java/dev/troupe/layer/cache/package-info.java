/**
 * What a text that grows token by token keeps of its places.
 */
package dev.troupe.layer.cache;
