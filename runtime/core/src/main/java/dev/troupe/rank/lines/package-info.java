/** Files of JSON objects, one on each line. A run appends to them, and reads them again when it is resumed. */
package dev.troupe.rank.lines;
