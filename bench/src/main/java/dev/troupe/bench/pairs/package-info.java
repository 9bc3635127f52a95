/** The faster one of two trainings, which run alternately: this tree against another commit, or against another program. */
package dev.troupe.bench.pairs;
