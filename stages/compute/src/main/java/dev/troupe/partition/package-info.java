/** The layers of each stage, and the check that a tensor-parallel group can divide a model. */
package dev.troupe.partition;
