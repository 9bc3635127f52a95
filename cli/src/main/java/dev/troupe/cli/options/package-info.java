/**
 * Options that several commands share: the directory of a run, settings, a cluster file, costs, the form of an export,
 * schedules with overlapping steps, the version; the sentence for unknown options; and the command that resumes a run.
 */
package dev.troupe.cli.options;
