/**
 * An engine that computes nothing: each work takes a configured time, and tensors have sizes but no memory, so that many
 * ranks of a large model run on a small machine with the real actors and the real transport.
 */
package dev.troupe.engine.emulated;
