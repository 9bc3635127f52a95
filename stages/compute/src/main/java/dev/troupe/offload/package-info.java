/**
 * State of a stage outside the memory of its engine: rooms of a store, such as files, and the values of a state tensor in
 * memory or in a room. It imports engines and layers only.
 */
package dev.troupe.offload;
