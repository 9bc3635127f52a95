/**
 * Data for fine-tuning: documents of files, each token a target or not, packed into rows of one length.
 *
 * <p>Imports the JDK, {@code dev.troupe.batch}, {@code dev.troupe.chat}, {@code dev.troupe.data},
 * {@code dev.troupe.engine}, {@code dev.troupe.tokenizer}, {@code dev.troupe.tokenizer.file}, {@code com.fasterxml.jackson}
 * and {@code dev.hardwood}.
 */
package dev.troupe.rows;
