package dev.troupe.protocol.rank;

import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKeys;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The messages that a rank has sent in the pass in progress, kept until the next pass begins. A receiver that lost a message
 * gets it again. The log is closed from the start of an epoch until the messages that receivers have are known: meanwhile it
 * keeps messages without sending them.
 *
 * <p>Thread rule: none; one caller at a time.
 *
 * @param <T> the content of a message
 */
public final class SendLog<T> {
    private final Map<MessageKey, T> sent = new LinkedHashMap<>();
    private MessageKeys received = MessageKeys.NONE;
    private boolean isOpen;

    /**
     * @param isOpen whether messages are sent at once; false for a restarted rank, since receivers may have its messages
     */
    public SendLog(boolean isOpen) {
        this.isOpen = isOpen;
    }

    /**
     * Keeps a message.
     *
     * @return whether to send it now
     * @throws IllegalStateException if it was sent in this pass already
     */
    public boolean add(MessageKey key, T content) {
        if (sent.putIfAbsent(key, content) != null) {
            throw new IllegalStateException(key + " was sent already");
        }
        return isOpen && !received.contains(key);
    }

    /** Closes the log: messages are kept and not sent. */
    public void close() {
        isOpen = false;
    }

    /**
     * Opens the log.
     *
     * @param known the messages of this pass that receivers have
     * @return the messages to send again, in the order in which they were sent
     */
    public Map<MessageKey, T> open(MessageKeys known) {
        isOpen = true;
        received = known;
        Map<MessageKey, T> again = new LinkedHashMap<>(sent);
        again.keySet().removeIf(received::contains);
        return again;
    }

    /** Begins a pass; returns the messages of the earlier one. */
    public Map<MessageKey, T> clear() {
        Map<MessageKey, T> old = new LinkedHashMap<>(sent);
        sent.clear();
        received = MessageKeys.NONE;
        return old;
    }
}
