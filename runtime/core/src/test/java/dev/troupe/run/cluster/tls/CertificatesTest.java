package dev.troupe.run.cluster.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.plan.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Certificates of two authorities, as openssl makes them. */
class CertificatesTest {
    @TempDir
    private static Path directory;

    @BeforeAll
    static void makeCertificates() throws IOException, InterruptedException {
        for (String authority : List.of("ours", "theirs")) {
            run("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=" + authority + " -keyout " + authority
                    + ".key -out " + authority + ".crt");
        }
        run("openssl req -newkey rsa:2048 -nodes -subj /CN=node -keyout node.key -out node.csr");
        sign("node.crt", 2);
        sign("expired.crt", -1);
    }

    private static void sign(String certificate, int days) throws IOException, InterruptedException {
        run("openssl x509 -req -in node.csr -CA ours.crt -CAkey ours.key -CAcreateserial -days " + days + " -out "
                + certificate);
    }

    private static void run(String command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command.split(" ")).directory(directory.toFile())
                .redirectErrorStream(true).redirectOutput(directory.resolve("openssl.log").toFile()).start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), Files.readString(directory.resolve("openssl.log")));
    }

    private TlsSpec files(String certificate, String key, String authority) {
        return new TlsSpec(directory.resolve(certificate), directory.resolve(key), directory.resolve(authority));
    }

    private void requireRefused(String certificate, String key, String authority, String expected) {
        String sentence = assertThrows(UsageException.class,
                () -> Certificates.requireSound(files(certificate, key, authority))).getMessage();
        assertTrue(sentence.replace(directory + "/", "").startsWith(expected), sentence);
    }

    @Test
    void shouldTakeWhatWasMadeTogether() {
        Certificates.requireSound(files("node.crt", "node.key", "ours.crt"));
    }

    @Test
    void shouldRefuseWhatOthersWouldNotTake() {
        requireRefused("expired.crt", "node.key", "ours.crt", "cluster.tls.certificate: expired.crt was good until ");
        requireRefused("node.crt", "node.key", "theirs.crt",
                "cluster.tls.certificate: node.crt was not signed by cluster.tls.authority theirs.crt: ");
        requireRefused("node.crt", "ours.key", "ours.crt",
                "cluster.tls.key: ours.key is not the key of cluster.tls.certificate node.crt: ");
    }

    @Test
    void shouldRefuseFilesThatAreNotThereOrSomethingElse() {
        requireRefused("none.crt", "node.key", "ours.crt",
                "cluster.tls.certificate: none.crt cannot be read, it is not there: ");
        requireRefused("node.key", "node.key", "ours.crt",
                "cluster.tls.certificate: node.key is no certificate in PEM: ");
        requireRefused("node.crt", "node.crt", "ours.crt", "cluster.tls.key: node.crt is no RSA key in PEM ");
    }
}
