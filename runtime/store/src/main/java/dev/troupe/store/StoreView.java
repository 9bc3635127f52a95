package dev.troupe.store;

import java.util.List;

/**
 * The servers of a store for some time.
 *
 * @param epoch grows by one at every change; messages of another epoch are dropped
 * @param servers ascending; a process that starts again is another server
 */
public record StoreView(int epoch, List<Integer> servers) {
    public StoreView {
        servers = servers.stream().distinct().sorted().toList();
    }
}
