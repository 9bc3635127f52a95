/** Mixtral (Jiang et al. 2024). */
package dev.troupe.model.mixtral;
