package dev.troupe.port;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A data port under strangers that hold their connections. */
@Tag("real")
class DataPortTest {
    /** More than the port holds. */
    private static final int MANY = 300;

    private final RunKey key = RunKey.of(new byte[RunKey.SECRET_BYTES]);
    private final List<Socket> strangers = new ArrayList<>();
    private InetSocketAddress address;
    private DataPort port;

    @BeforeEach
    void open() throws IOException {
        address = freeAddress();
        port = DataPort.open(address, key);
    }

    private static InetSocketAddress freeAddress() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return new InetSocketAddress(free.getInetAddress(), free.getLocalPort());
        }
    }

    @AfterEach
    void close() throws IOException {
        for (Socket stranger : strangers) {
            stranger.close();
        }
        port.close();
    }

    @Test
    void shouldAnswerNodesWhileStrangersKeepThePortFull() throws IOException {
        fill();
        assertTrue(port.sharesKey(address));
        fill();
        assertTrue(port.sharesKey(address));
    }

    /** Calls are accepted in their order, so all strangers are counted when the node has its answer. */
    @Test
    void shouldCloseTheFirstStrangersWhenThereAreTooMany() throws IOException {
        fill();
        assertTrue(port.sharesKey(address));
        assertTrue(isClosed(strangers.getFirst()));
        assertFalse(isClosed(strangers.getLast()));
    }

    private static boolean isClosed(Socket socket) throws IOException {
        socket.setSoTimeout(500);
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException _) {
            return false;
        } catch (SocketException _) {
            return true;
        }
    }

    private void fill() throws IOException {
        for (int i = 0; i < MANY; i++) {
            Socket stranger = new Socket(address.getAddress(), address.getPort());
            strangers.add(stranger);
            stranger.getOutputStream().write('t');
        }
    }

    @Test
    void shouldGiveUpCallersThatSendAByteAtATime() throws IOException {
        Socket stranger = new Socket(address.getAddress(), address.getPort());
        strangers.add(stranger);
        stranger.setSoTimeout(1_000); // the pause after each byte
        int sent = 0;
        while (sent < RunKey.PROOF_BYTES && takesAnother(stranger)) {
            sent++;
        }
        assertTrue(sent < RunKey.PROOF_BYTES, "still open after " + sent + " bytes, one each second");
    }

    private static boolean takesAnother(Socket socket) throws IOException {
        try {
            socket.getOutputStream().write('t');
            return socket.getInputStream().read() >= 0;
        } catch (SocketTimeoutException _) {
            return true;
        } catch (SocketException _) {
            return false;
        }
    }

    @Test
    void shouldRefuseAnotherKey() throws IOException {
        byte[] other = new byte[RunKey.SECRET_BYTES];
        other[0] = 1;
        try (DataPort stranger = DataPort.open(freeAddress(), RunKey.of(other))) {
            assertFalse(stranger.sharesKey(address));
        }
    }
}
