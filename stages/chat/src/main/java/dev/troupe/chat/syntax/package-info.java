/**
 * The source of a chat template, read as Jinja reads it: tokens, expressions and statements.
 */
package dev.troupe.chat.syntax;
