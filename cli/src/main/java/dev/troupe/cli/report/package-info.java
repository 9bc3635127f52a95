/**
 * Tables, JSON and pages that a command leaves: of a comparison, of a disturbed run, of a schedule, of memory; and the
 * width of the terminal that they fit.
 */
package dev.troupe.cli.report;
