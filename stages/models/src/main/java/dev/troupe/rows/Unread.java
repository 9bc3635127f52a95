package dev.troupe.rows;

import java.util.function.Supplier;

/**
 * A line that is not parsed yet.
 *
 * @param entry parses it, on any thread; throws {@link dev.troupe.data.DataException} if it has no usable content
 */
record Unread(DocumentOrigin origin, Supplier<Entry> entry) {
}
