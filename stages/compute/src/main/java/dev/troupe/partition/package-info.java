/** The layers of each stage, and the models that the ranks of a tensor-parallel group can share out. */
package dev.troupe.partition;
