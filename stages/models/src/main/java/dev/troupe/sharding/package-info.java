/**
 * Sharding plans: a type on each axis of ranks for each parameter and each move between them; their derivation from a
 * model's declaration, their texts, and their check. Imports models and the types of {@code dev.troupe.parallel}; no engine.
 */
package dev.troupe.sharding;
