/**
 * GPT-2: its numbers, its layers and parameters as a declaration, and its published forms. No other package has its names.
 */
package dev.troupe.model.gpt2;
