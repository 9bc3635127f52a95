/** Stages held against PyTorch and against each other, on the reference engine. */
package dev.troupe.stage;
