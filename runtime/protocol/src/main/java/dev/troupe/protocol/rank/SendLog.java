package dev.troupe.protocol.rank;

import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKeys;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a rank has sent in the pass in progress, kept until the next one begins, so that a receiver that lost it gets it again.
 * Between entering an epoch and the report of what receivers have, it is closed: messages are kept here and not sent yet.
 *
 * <p>Thread rule: none; one caller at a time.
 *
 * @param <T> what a message carries
 */
public final class SendLog<T> {
    private final Map<MessageKey, T> sent = new LinkedHashMap<>();
    private MessageKeys received = MessageKeys.NONE;
    private boolean isOpen;

    /**
     * @param isOpen whether what is sent goes at once; a rank that is restarted is told first what others have of it
     */
    public SendLog(boolean isOpen) {
        this.isOpen = isOpen;
    }

    /**
     * Keeps a message.
     *
     * @return whether it is to go now
     * @throws IllegalStateException if it was sent in this pass already
     */
    public boolean add(MessageKey key, T content) {
        if (sent.putIfAbsent(key, content) != null) {
            throw new IllegalStateException(key + " was sent already");
        }
        return isOpen && !received.contains(key);
    }

    /** Lets nothing go from now on. */
    public void close() {
        isOpen = false;
    }

    /**
     * Lets messages go again.
     *
     * @param known what the receivers have of this pass
     * @return the messages that are to go once more, in the order in which they were sent
     */
    public Map<MessageKey, T> open(MessageKeys known) {
        isOpen = true;
        received = known;
        Map<MessageKey, T> again = new LinkedHashMap<>(sent);
        again.keySet().removeIf(received::contains);
        return again;
    }

    /** Begins a pass; returns what was kept of the one before. */
    public Map<MessageKey, T> clear() {
        Map<MessageKey, T> old = new LinkedHashMap<>(sent);
        sent.clear();
        received = MessageKeys.NONE;
        return old;
    }
}
