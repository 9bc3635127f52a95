/**
 * Files of JSON objects, one on each line, that a run adds to while it lasts and reads again when it goes on.
 */
package dev.troupe.lines;
