/**
 * Which of two trainings is faster, run in turns: this tree against another commit, or against another program.
 */
package dev.troupe.bench.pairs;
