/**
 * Files of configuration, read within bounds: includes, pieces of sections, and values that repeat each other.
 */
package dev.troupe.config.file;
