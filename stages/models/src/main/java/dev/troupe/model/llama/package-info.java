/** Llama 2 and 3 (Touvron et al. 2023, Grattafiori et al. 2024), and other models of their form. */
package dev.troupe.model.llama;
