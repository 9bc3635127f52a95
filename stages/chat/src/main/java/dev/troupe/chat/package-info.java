/** Chat templates of Hugging Face models: messages as the text of a model's training. */
package dev.troupe.chat;
