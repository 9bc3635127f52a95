package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the script that makes certificates to try TLS with. */
@Tag("real")
class TestCertificatesTest {
    private static final long LONGEST_SECONDS = 60;

    @TempDir
    private Path folder;

    @BeforeEach
    void requireOpenssl() {
        assertTrue(List.of(System.getenv("PATH").split(File.pathSeparator)).stream()
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, "openssl"))),
                "the script calls openssl, which is not on the PATH: install it (Debian: apt-get install openssl)");
    }

    @Test
    void shouldMakeAnAuthorityAndACertificateForEachHost() throws Exception {
        assertEquals(0, make(folder.resolve("tls"), "node-1.lan,10.0.0.1", "::1"));
        X509Certificate authority = certificate("ca");
        assertTrue(authority.getBasicConstraints() >= 0);
        assertEquals(List.of("node-1.lan", "10.0.0.1"), alternatives(certificate("node-1.lan")));
        assertEquals(List.of("0:0:0:0:0:0:0:1"), alternatives(certificate("::1")));
        for (String name : List.of("node-1.lan", "::1")) {
            certificate(name).verify(authority.getPublicKey());
            assertEquals(-1, certificate(name).getBasicConstraints());
            assertBelongs(key(name), certificate(name));
            // The settings by which nodes accept each other as members of one cluster.
            assertEquals("CN=Troupe node", certificate(name).getSubjectX500Principal().getName());
        }
    }

    @Test
    void shouldOverwriteNothing() throws Exception {
        assertEquals(0, make(folder.resolve("tls"), "a"));
        byte[] key = Files.readAllBytes(file("a", "key"));
        assertEquals(2, make(folder.resolve("tls"), "a"));
        assertEquals(2, make(folder.resolve("tls"), "b"));
        assertFalse(Files.exists(file("b", "key")));
        assertEquals(new String(key), Files.readString(file("a", "key")));
    }

    @Test
    void shouldRefuseInvalidHosts() throws Exception {
        for (String host : List.of("-a", "a/b", "a,,b", "ca", "")) {
            assertEquals(2, make(folder.resolve("tls"), host), host);
        }
        assertEquals(2, make(folder.resolve("tls")));
        assertFalse(Files.exists(folder.resolve("tls")));
    }

    private int make(Path directory, String... hosts) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("bash", "make-test-certificates", directory.toString()));
        command.addAll(List.of(hosts));
        Process process = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(folder.resolve("output").toFile()).start();
        assertTrue(process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS), "the script did not end");
        return process.exitValue();
    }

    private Path file(String name, String suffix) {
        return folder.resolve("tls").resolve(name + "." + suffix);
    }

    private X509Certificate certificate(String name) throws IOException, GeneralSecurityException {
        try (InputStream stream = Files.newInputStream(file(name, "crt"))) {
            return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(stream);
        }
    }

    private PrivateKey key(String name) throws IOException, GeneralSecurityException {
        String pem = Files.readString(file(name, "key"));
        assertTrue(pem.startsWith("-----BEGIN PRIVATE KEY-----"), pem.lines().findFirst().orElse(""));
        byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
        return KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(der));
    }

    private static List<String> alternatives(X509Certificate certificate) throws GeneralSecurityException {
        return certificate.getSubjectAlternativeNames().stream().map(name -> name.get(1).toString()).toList();
    }

    private static void assertBelongs(PrivateKey key, X509Certificate certificate) throws GeneralSecurityException {
        byte[] message = {1, 2, 3};
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(key);
        signature.update(message);
        byte[] signed = signature.sign();
        signature.initVerify(certificate.getPublicKey());
        signature.update(message);
        assertTrue(signature.verify(signed));
    }
}
