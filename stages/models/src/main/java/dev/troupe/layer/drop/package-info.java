/** The drop of whole halves of blocks: probabilities by step and depth. Imports nothing. */
package dev.troupe.layer.drop;
