/** Sums of gradients that do not depend on the number of ranks: a balanced tree, and an exact sum of squares. */
package dev.troupe.sum;
