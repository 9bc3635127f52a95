/**
 * Options that several commands share: the directory of a run, settings, a cluster file, costs, the form of an
 * export; those of schedules whose steps overlap; the version; the sentence for options that nobody knows; and the
 * command that resumes a run.
 */
package dev.troupe.cli.options;
