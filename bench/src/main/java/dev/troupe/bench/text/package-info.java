/** The speed of tokenizers. */
package dev.troupe.bench.text;
