/** The directory of a run: its state before a run begins or resumes there, its files, and its lock. */
package dev.troupe.plan.directory;
