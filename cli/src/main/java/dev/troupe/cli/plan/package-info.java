/** The command that searches for the layout of a run, and the forms of its answer. */
package dev.troupe.cli.plan;
