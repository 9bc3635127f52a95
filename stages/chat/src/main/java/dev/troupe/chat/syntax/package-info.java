/** The source of a chat template, read by Jinja's grammar: tokens, expressions and statements. */
package dev.troupe.chat.syntax;
