/** Directories in Hugging Face layout, in and out, under the names that a family publishes. */
package dev.troupe.weights.huggingface;
