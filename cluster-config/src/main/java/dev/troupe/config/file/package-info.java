/** Configuration files, parsed within bounds on includes, pieces of sections, and values that repeat each other. */
package dev.troupe.config.file;
