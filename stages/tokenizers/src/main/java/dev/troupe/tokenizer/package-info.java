/** Tokenizers: text into token ids and back. */
package dev.troupe.tokenizer;
