/**
 * An engine that computes nothing: each work takes the time it is told to, and tensors have a size but no memory, so that
 * many ranks of a large model run on a small machine with the real actors and the real transport.
 */
package dev.troupe.engine.emulated;
