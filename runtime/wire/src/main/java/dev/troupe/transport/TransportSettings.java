package dev.troupe.transport;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * The settings of a transport: the keys {@code transport.*}.
 *
 * @param directory {@code transport.directory}: the directory of the media driver, made at start and deleted at close;
 *     empty: one of this process's own under {@code /dev/shm}, or else under {@code java.io.tmpdir}
 * @param sharesDriver whether the transport uses a running media driver in that directory, which it does not stop
 * @param termLength {@code transport.term-length}: bytes of a term of each stream, a power of two from {@value
 *     #MIN_TERM_LENGTH} to {@value #MAX_TERM_LENGTH}; see {@link #DEFAULT_TERM_LENGTH}
 * @param linkTimeout {@code transport.timeout}: the time for which another node may be unreachable before the ranks are
 *     notified
 * @param network {@code transport.network}: the protocol to nodes of other machines
 */
public record TransportSettings(Optional<Path> directory, boolean sharesDriver, int termLength, Duration linkTimeout,
        Network network) {
    /** The smallest term in bytes; its window of half a term holds eight of the largest frames. */
    public static final int MIN_TERM_LENGTH = 1 << 20;
    /** Aeron's largest term in bytes. */
    public static final int MAX_TERM_LENGTH = 1 << 30;
    /**
     * 8 MiB. At most a window of half a term is in flight, and the driver advances the window only when its thread
     * runs, at the latest after {@value #MAX_DRIVER_SLEEP_MICROS} microseconds of sleep. One thread copies and checks
     * about 5 GB/s, so a window of 4 MiB lasts 0.8 ms, about as long as that sleep, which traffic shortens anyhow:
     * terms of 1 to 64 MiB carry 4.5 to 6.8 GB/s with no trend (log P-002). So memory decides: each stream takes three
     * terms in the driver's directory, 24 MiB, and with the driver's own files one node stays within the 64 MiB of
     * {@code /dev/shm} that containers have.
     */
    public static final int DEFAULT_TERM_LENGTH = 8 << 20;
    /**
     * The most bytes in flight in a ring: the size of a level 2 cache. A thread copies 8 GB/s through it, and 3 GB/s through
     * a stream of three terms of 8 MiB, which fits no cache. 1 MiB lasts 0.25 ms at 4 GB/s, longer than the first pauses of
     * an idle thread.
     */
    public static final int MAX_RING_LENGTH = 1 << 20;
    private static final int MAX_DEVICE_PIECE_LENGTH = 4 << 20;
    private static final int DEVICE_PIECES = 4;
    /**
     * Half of this term holds 800 headers: enough for 50 MiB in full fragments, and for all small messages with credits.
     */
    public static final int HEADER_TERM_LENGTH = 256 << 10;
    private static final int HEADER_MTU_LENGTH = 1408;
    /** The reader's position in a ring has its own page, so that it shares no cache line with payload. */
    public static final int RING_HEADER_BYTES = 4096;
    /** The window that any Linux supports over UDP: the default size of a socket's buffer. */
    private static final int LEAST_UDP_WINDOW = 128 << 10;
    /** The largest useful window over UDP: about 10 ms at 10 Gbit/s, or 1 ms at 100 Gbit/s. */
    private static final int GREATEST_UDP_WINDOW = 4 << 20;
    private static final Path SOCKET_BUFFER_LIMIT = Path.of("/proc/sys/net/core/rmem_max");
    /**
     * The longest pause of a process (SIGSTOP, a long collection, a sleeping laptop) that its connection to the media driver
     * survives. Aeron's 10 seconds would end runs that could continue.
     */
    public static final long LIVENESS_TIMEOUT_SECONDS = 60;
    /** The longest sleep of the media driver's thread, in microseconds. */
    public static final int MAX_DRIVER_SLEEP_MICROS = 1000;

    public TransportSettings {
        Objects.requireNonNull(directory, "directory");
        Objects.requireNonNull(linkTimeout, "linkTimeout");
        Objects.requireNonNull(network, "network");
        if (termLength < MIN_TERM_LENGTH || termLength > MAX_TERM_LENGTH || Integer.bitCount(termLength) != 1) {
            throw new IllegalArgumentException("transport.term-length must be a power of two from " + MIN_TERM_LENGTH
                    + " to " + MAX_TERM_LENGTH + " bytes, but found " + termLength);
        }
        if (sharesDriver && directory.isEmpty()) {
            throw new IllegalArgumentException("a transport that shares a media driver must know its directory");
        }
        if (linkTimeout.isNegative() || linkTimeout.isZero()) {
            throw new IllegalArgumentException("transport.timeout must be positive, but found " + linkTimeout);
        }
    }

    /** Creates settings with an own media driver. */
    public TransportSettings(Optional<Path> directory, int termLength, Duration linkTimeout) {
        this(directory, false, termLength, linkTimeout);
    }

    /** Creates settings with the default protocol to other machines, {@link Network#TCP}. */
    public TransportSettings(Optional<Path> directory, boolean sharesDriver, int termLength, Duration linkTimeout) {
        this(directory, sharesDriver, termLength, linkTimeout, Network.TCP);
    }

    /** Returns these settings with another protocol to other machines. */
    public TransportSettings over(Network other) {
        return new TransportSettings(directory, sharesDriver, termLength, linkTimeout, other);
    }

    /** Returns the defaults: an own directory, terms of {@link #DEFAULT_TERM_LENGTH}, 10 seconds to reach another node. */
    public static TransportSettings defaults() {
        return new TransportSettings(Optional.empty(), DEFAULT_TERM_LENGTH, Duration.ofSeconds(10));
    }

    /** Returns the most payload bytes in flight to another process of the machine, at most the window of a stream. */
    public int ringBytes() {
        return Math.min(termLength / 2, MAX_RING_LENGTH);
    }

    /**
     * Returns the most payload bytes in flight between two ranks in a ring of a device's memory: 16 MiB at the default
     * terms. A device copies 4 MiB in microseconds, or over PCIe in some hundred. Four such pieces keep it busy, since the
     * transports check for completion every 50 microseconds.
     */
    public int deviceRingBytes() {
        return DEVICE_PIECES * devicePieceBytes();
    }

    /** Returns the most bytes of a payload that a device copies to a ring at once. */
    public int devicePieceBytes() {
        return Math.min(termLength / 2, MAX_DEVICE_PIECE_LENGTH);
    }

    /** Returns the bytes of a ring's file in the driver's directory. */
    public long ringFileBytes() {
        return (long) RING_HEADER_BYTES + ringBytes();
    }

    /** Returns the sender's channel to a process of the same machine; its frames are headers, with payloads in a ring. */
    public String sendsHeaders(String channel) {
        return with(with(channel, "term-length=" + HEADER_TERM_LENGTH), "mtu=" + HEADER_MTU_LENGTH);
    }

    public String sends(String channel) {
        return with(channel, "term-length=" + termLength);
    }

    /**
     * Returns the receiver's channel. Over UDP its window is the largest buffer that the system grants a socket, at most
     * half a term. A window below bandwidth times round trip leaves the wire idle, and one above the socket's buffer loses
     * packets.
     */
    public String receives(String channel) {
        if (channel.startsWith("aeron:ipc")) {
            return channel;
        }
        long window = Math.clamp(socketBufferLimit(), LEAST_UDP_WINDOW, Math.min(termLength / 2, GREATEST_UDP_WINDOW));
        return with(channel, "so-rcvbuf=" + window + "|rcv-wnd=" + window);
    }

    private static long socketBufferLimit() {
        // Read with one call, since such a file ends after the first; readString would get a single byte.
        try (BufferedReader limit = Files.newBufferedReader(SOCKET_BUFFER_LIMIT)) {
            return Long.parseLong(limit.readLine().strip());
        } catch (IOException | NumberFormatException unknown) {
            return LEAST_UDP_WINDOW;
        }
    }

    private static String with(String channel, String parameter) {
        return channel + (channel.contains("?") ? "|" : "?") + parameter;
    }
}
