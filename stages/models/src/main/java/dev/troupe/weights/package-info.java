/**
 * Weights outside of an engine: named tensors, safetensors files, and whole tensors from the slices of several ranks. It
 * knows no model.
 */
package dev.troupe.weights;
