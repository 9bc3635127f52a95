package dev.troupe.transport.tcp;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A cable in front of a node's data port: it can break and stop, also amid what a caller sends, and flip a bit of it. */
public final class Relay implements AutoCloseable {
    private static final int CHUNK = 8 << 10;

    private final ServerSocket port;
    private final InetSocketAddress target;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Semaphore moves = new Semaphore(1);
    private final AtomicLong carried = new AtomicLong();
    private final AtomicInteger begun = new AtomicInteger();
    private volatile long cutAt = -1;
    private volatile long flipAt = -1;
    private volatile int flipBefore;
    private volatile String lookedFor = "";
    private volatile boolean isFound;

    /** Opens a port at an address of this machine for a node that listens elsewhere. */
    public Relay(String host, InetSocketAddress target) throws IOException {
        this.port = new ServerSocket();
        this.port.bind(new InetSocketAddress(host, 0));
        this.target = target;
        Thread.ofVirtual().start(this::listen);
    }

    public int port() {
        return port.getLocalPort();
    }

    /** The address at which the node listens. */
    public InetSocketAddress target() {
        return target;
    }

    /** Bytes that callers have sent so far. */
    public long carried() {
        return carried.get();
    }

    /** Breaks every connection. */
    public void cut() throws IOException {
        for (Socket socket : List.copyOf(sockets)) { // and none that is made meanwhile
            socket.close();
            sockets.remove(socket);
        }
    }

    /** Breaks every connection once before a byte that callers send, counted from the first of all. */
    public void cut(long at) {
        cutAt = at;
    }

    /** The connections on which the node has sent frames after its hello. */
    public int begun() {
        return begun.get();
    }

    /** Carries nothing of callers until {@link #go}. */
    public void stop() throws InterruptedException {
        moves.acquire();
    }

    public void go() {
        moves.release();
    }

    /** Flips a bit of a byte that callers send, counted from the first of all. */
    public void flip(long at) {
        flipAt = at;
    }

    /** Flips a bit of a byte that callers send so many bytes before a text, each time that the text comes. */
    public void flipBefore(int bytes, String text) {
        flipBefore = bytes;
        lookFor(text);
    }

    /** Looks for a text in each piece that callers send from now on. */
    public void lookFor(String text) {
        lookedFor = text;
    }

    public boolean hasFound() {
        return isFound;
    }

    private void listen() {
        while (!port.isClosed()) {
            try {
                Socket caller = port.accept();
                sockets.add(caller);
                Socket called = new Socket();
                sockets.add(called);
                try {
                    called.connect(target);
                } catch (IOException nobodyListens) {
                    caller.close();
                }
                Thread.ofVirtual().start(() -> carry(caller, called, true));
                Thread.ofVirtual().start(() -> carry(called, caller, false));
            } catch (IOException _) {
                // The port was closed.
            }
        }
    }

    private void carry(Socket from, Socket to, boolean isOfCaller) {
        byte[] chunk = new byte[CHUNK];
        long carriedHere = 0;
        try (from; to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
                if (isOfCaller) {
                    moves.acquire();
                    moves.release();
                    inspect(chunk, length);
                } else if (carriedHere <= WireHello.BYTES && carriedHere + length > WireHello.BYTES) {
                    begun.incrementAndGet();
                }
                carriedHere += length;
                out.write(chunk, 0, length);
            }
        } catch (IOException | InterruptedException _) {
            // Cut.
        }
    }

    private void inspect(byte[] chunk, int length) throws IOException {
        long start = carried.getAndAdd(length);
        if (cutAt >= start && cutAt < start + length) {
            cut();
        }
        int found = lookedFor.isEmpty()
                ? -1
                : new String(chunk, 0, length, StandardCharsets.ISO_8859_1).indexOf(lookedFor);
        isFound |= found >= 0;
        long flip = flipBefore > 0 && found >= 0 ? found - flipBefore : flipAt - start;
        if (flip >= 0 && flip < length) {
            chunk[(int) flip] ^= 1;
        }
    }

    @Override
    public void close() throws IOException {
        port.close();
        cut();
    }
}
