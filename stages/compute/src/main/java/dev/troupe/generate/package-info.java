/** A whole model on one engine: sampling, and its loss on data. */
package dev.troupe.generate;
