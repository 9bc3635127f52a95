/** Qwen 3 (Yang et al. 2025). */
package dev.troupe.model.qwen3;
