/** Qwen 2 and 2.5 (Yang et al. 2024). */
package dev.troupe.model.qwen2;
