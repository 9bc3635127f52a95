/**
 * The directory of a run: its state before a run begins or resumes there, its files, and the lock of the process that
 * writes to it.
 */
package dev.troupe.plan.directory;
