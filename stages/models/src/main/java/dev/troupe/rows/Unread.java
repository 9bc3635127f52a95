package dev.troupe.rows;

import java.util.function.Supplier;

/**
 * A line that was found and not looked into.
 *
 * @param origin if it is
 * @param entry looks into it, on any thread; throws {@link dev.troupe.data.DataException} if it holds nothing of use
 */
record Unread(DocumentOrigin origin, Supplier<Entry> entry) {
}
