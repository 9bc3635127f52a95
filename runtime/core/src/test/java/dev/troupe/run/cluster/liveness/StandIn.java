package dev.troupe.run.cluster.liveness;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.port.RunKey;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The stand-in of a process: a port, and connections that close when it ends. */
public final class StandIn implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 20;
    /** The first byte of a caller. */
    private static final int LIVENESS = 'l';

    private final ServerSocket port = new ServerSocket();
    private final BlockingQueue<Socket> calls = new LinkedBlockingQueue<>();
    private final Thread answering;
    private final BlockingQueue<Socket> unanswered = new LinkedBlockingQueue<>();
    private volatile boolean isStopped;
    private volatile Hello hello;

    public StandIn(ClusterSpec cluster, NodeSpec self, long uid) throws IOException {
        port.bind(new InetSocketAddress(self.host(), self.dataPort()));
        hello = new Hello(cluster.name(), new Peer(self.name(), uid));
        answering = Thread.ofVirtual().start(this::answer);
    }

    private void answer() {
        while (!port.isClosed()) {
            try {
                Socket call = port.accept();
                if (port.isClosed()) { // the thread that waits here holds it open a moment longer
                    call.close();
                    return;
                }
                if (isStopped) {
                    unanswered.add(call); // it stays open, as the kernel keeps it for a process that is stopped
                    continue;
                }
                hello.write(call.getOutputStream());
                if (call.getInputStream().read() == LIVENESS) {
                    call.getInputStream().readNBytes(RunKey.PROOF_BYTES);
                    Hello.read(call.getInputStream());
                    calls.add(call);
                }
            } catch (IOException _) {
                // The port was closed, or the caller has closed the connection.
            }
        }
    }

    /** Returns the next connection of a caller. */
    public Socket awaitCall() throws InterruptedException {
        Socket call = calls.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertNotNull(call, "nobody called");
        return call;
    }

    /** Calls another node. */
    Socket call(NodeSpec node) throws IOException {
        Socket call = new Socket(node.host(), node.dataPort());
        greet(call, hello);
        Hello.read(call.getInputStream());
        return call;
    }

    /** Sends the first bytes of a caller. */
    static void greet(Socket call, Hello hello) throws IOException {
        call.getOutputStream().write(LIVENESS);
        call.getOutputStream().write(RunKey.open().proof("data-port", new byte[]{LIVENESS}, 1));
        hello.write(call.getOutputStream());
    }

    /** Stops the process: callers reach its port and get no answer. */
    void stopAnswering() {
        isStopped = true;
    }

    /** Waits until this number of calls had no answer. */
    void awaitUnanswered(int count) throws InterruptedException {
        for (int call = 0; call < count; call++) {
            assertNotNull(unanswered.poll(PATIENCE_SECONDS, TimeUnit.SECONDS), "nobody called");
        }
    }

    /** Becomes another process, started since on the same port. */
    void becomes(long uid) {
        hello = new Hello(hello.cluster(), new Peer(hello.peer().node(), uid));
    }

    /** Closes the port; returns when nobody can reach it any more. */
    @Override
    public void close() throws IOException {
        port.close();
        try {
            assertTrue(answering.join(Duration.ofSeconds(PATIENCE_SECONDS)), "the port is still answered");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
