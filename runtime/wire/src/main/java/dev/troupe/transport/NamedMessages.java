package dev.troupe.transport;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A hook that loses and damages the messages that are named to it before they are sent. It is asked for each frame, so a
 * message is looked up only if some are named. Any thread.
 */
public final class NamedMessages implements FrameHook {
    private final Set<MessageId> lost = ConcurrentHashMap.newKeySet();
    private final Set<MessageId> damaged = ConcurrentHashMap.newKeySet();

    /** Has a message lost. */
    public void lose(MessageId message) {
        lost.add(message);
    }

    /** Has a message damaged. */
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
