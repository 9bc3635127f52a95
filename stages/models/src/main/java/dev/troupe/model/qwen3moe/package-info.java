/** Qwen 3 with experts (Yang et al. 2025). */
package dev.troupe.model.qwen3moe;
