package dev.troupe.transport;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A hook that loses and damages messages by their ids, which must be added before the messages are sent. Its methods run for
 * each frame, so they first check for an empty set. Any thread.
 */
public final class NamedMessages implements FrameHook {
    private final Set<MessageId> lost = ConcurrentHashMap.newKeySet();
    private final Set<MessageId> damaged = ConcurrentHashMap.newKeySet();

    public void lose(MessageId message) {
        lost.add(message);
    }

    public void damage(MessageId message) {
        damaged.add(message);
    }

    public void forget(MessageId message) {
        lost.remove(message);
        damaged.remove(message);
    }

    @Override
    public boolean loses(MessageId message) {
        return !lost.isEmpty() && lost.contains(message);
    }

    @Override
    public boolean damages(MessageId message) {
        return !damaged.isEmpty() && damaged.contains(message);
    }
}
