/** Data for fine-tuning: documents of files, each token a target or not, packed into rows of one length. */
package dev.troupe.rows;
