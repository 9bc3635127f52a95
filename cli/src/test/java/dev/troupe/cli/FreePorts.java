package dev.troupe.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports for servers of a test. They lie below those that the kernel gives to sockets without a port of their own, so no
 * process takes one by accident between the check and its use.
 */
public final class FreePorts {
    private static final int LEAST = 1024;
    private static final int LEAST_EPHEMERAL = leastEphemeral();
    /** Tests of each JVM begin at a port of their own and count from there. */
    private static final AtomicInteger NEXT = new AtomicInteger(
            (int) (ProcessHandle.current().pid() * 101 % (LEAST_EPHEMERAL - LEAST)));

    private FreePorts() {
    }

    /** Finds ports without a listener, by TCP or UDP. */
    public static List<Integer> find(int count) {
        List<Integer> ports = new ArrayList<>();
        for (int tried = 0; ports.size() < count; tried++) {
            if (tried == LEAST_EPHEMERAL - LEAST) {
                throw new IllegalStateException("expected " + count + " free ports from " + LEAST + " to "
                        + (LEAST_EPHEMERAL - 1) + ", but found " + ports.size());
            }
            int port = LEAST + Math.floorMod(NEXT.getAndIncrement(), LEAST_EPHEMERAL - LEAST);
            if (isFree(port)) {
                ports.add(port);
            }
        }
        return ports;
    }

    /** Whether a port has no listener, by TCP or UDP. */
    static boolean isFree(int port) {
        try (ServerSocket _ = new ServerSocket(port); DatagramSocket _ = new DatagramSocket(port)) {
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private static int leastEphemeral() {
        // In one read: the kernel ends such a file after the first, for which readString takes a single byte.
        try (BufferedReader range = Files.newBufferedReader(Path.of("/proc/sys/net/ipv4/ip_local_port_range"))) {
            return Integer.parseInt(range.readLine().strip().split("\\s+")[0]);
        } catch (IOException _) {
            return 32_768; // the default of Linux
        }
    }
}
