/**
 * Weights outside of an engine: names, initial values, safetensors files and Hugging Face directories.
 */
package dev.troupe.weights;
