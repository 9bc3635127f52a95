/**
 * The parts of a {@code tokenizer.json} of Hugging Face's tokenizers: normalizer, added tokens, pre-tokenizer, model,
 * post-processor and decoder.
 */
package dev.troupe.tokenizer.huggingface;
