/**
 * The tables, JSON files and pages of a command: of a comparison, a disturbed run, a schedule, and memory; and the width of
 * the terminal.
 */
package dev.troupe.cli.report;
