/**
 * Weights outside of an engine: names, initial values, safetensors files and Hugging Face directories, and whole tensors
 * from the slices of several ranks.
 */
package dev.troupe.weights;
