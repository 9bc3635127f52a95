package dev.troupe.cluster.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.liveness.Sockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Certificates as openssl makes them. */
@Tag("real")
class MutualTlsTest {
    @TempDir
    private Path directory;

    @BeforeEach
    void makeCertificates() throws IOException, InterruptedException {
        for (String authority : new String[]{"ours", "theirs"}) {
            run("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=" + authority + " -keyout " + authority
                    + ".key -out " + authority + ".crt");
        }
        sign("node", "ours");
        sign("other", "ours");
        sign("stranger", "theirs");
    }

    /** A certificate that is for itself, and one for stranger that says it were for node. */
    private void sign(String name, String authority) throws IOException, InterruptedException {
        run("openssl req -newkey rsa:2048 -nodes -subj /CN=" + (name.equals("stranger") ? "node" : name) + " -keyout "
                + name + ".key -out " + name + ".csr");
        run("openssl x509 -req -in " + name + ".csr -CA " + authority + ".crt -CAkey " + authority
                + ".key -CAcreateserial -days 2 -out " + name + ".crt");
    }

    private void run(String command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command.split(" ")).directory(directory.toFile())
                .redirectErrorStream(true).redirectOutput(directory.resolve("openssl.log").toFile()).start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), Files.readString(directory.resolve("openssl.log")));
    }

    private Sockets tls(String certificate, String authority) {
        return new MutualTls(new TlsSpec(directory.resolve(certificate + ".crt"),
                directory.resolve(certificate + ".key"), directory.resolve(authority + ".crt")));
    }

    /** Whether both sides take each other, with a byte each way. */
    private static boolean connects(Sockets caller, Sockets called) throws Exception {
        return connects(caller, called, 20_000);
    }

    /** @param millis for which either side waits for the other's next byte */
    private static boolean connects(Sockets caller, Sockets called, int millis) throws Exception {
        try (ServerSocket port = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
                Socket calling = new Socket("127.0.0.1", port.getLocalPort());
                Socket accepted = port.accept()) {
            calling.setSoTimeout(millis);
            accepted.setSoTimeout(millis);
            CompletableFuture<Boolean> answered = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> answered.complete(exchanges(() -> called.accepted(accepted), accepted)));
            return exchanges(() -> caller.dialed(calling), calling) & answered.get(30, TimeUnit.SECONDS);
        }
    }

    private interface Handshake {
        Socket shake() throws IOException;
    }

    private static boolean exchanges(Handshake handshake, Socket connection) {
        try (connection; Socket secure = handshake.shake()) {
            secure.getOutputStream().write(1);
            return secure.getInputStream().read() == 1;
        } catch (IOException _) {
            return false;
        }
    }

    @Test
    void shouldTakeACertificateOfTheSameAuthorityWithANameInCommonOnly() throws Exception {
        Sockets node = tls("node", "ours");
        assertTrue(connects(node, node));
        assertFalse(connects(tls("other", "ours"), node));
        assertFalse(connects(node, tls("other", "ours")));
        assertFalse(connects(tls("stranger", "ours"), node));
        assertFalse(connects(node, tls("stranger", "ours")));
        // One byte is no greeting: the node waits for the rest of it until its time is over.
        assertFalse(connects(Sockets.PLAIN, node, 500));
    }
}
