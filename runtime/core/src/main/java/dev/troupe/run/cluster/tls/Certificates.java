package dev.troupe.run.cluster.tls;

import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.tokenizer.file.BoundedFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.security.interfaces.RSAPrivateKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.function.BiFunction;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * The certificate files of a node. They are checked at the start: they are read again for every connection, so a wrong file
 * would otherwise only keep nodes from joining.
 */
public final class Certificates {
    private static final String CERTIFICATE = "cluster.tls.certificate";
    private static final String KEY = "cluster.tls.key";
    private static final String AUTHORITY = "cluster.tls.authority";
    private static final String STORE = "PKCS12";
    private static final char[] NO_PASSWORD = {};

    private Certificates() {
    }

    /**
     * Checks the files of a node itself; other nodes decide whether they accept its certificate.
     *
     * @throws UsageException if a file is missing or has another content, a certificate is not valid today or of another
     *     authority, or the key is of another certificate
     */
    public static void requireSound(TlsSpec tls) {
        X509Certificate certificate = certificate(CERTIFICATE, tls.certificate());
        X509Certificate authority = certificate(AUTHORITY, tls.authority());
        RSAPrivateKey key = key(tls.key());
        requireGoodToday(CERTIFICATE, tls.certificate(), certificate);
        requireGoodToday(AUTHORITY, tls.authority(), authority);
        try {
            certificate.verify(authority.getPublicKey());
        } catch (GeneralSecurityException another) {
            throw refused(CERTIFICATE, tls.certificate(), "was not signed by " + AUTHORITY + " " + tls.authority(),
                    "the certificates of all nodes must come from one authority", another);
        }
        if (!(certificate.getPublicKey() instanceof RSAPublicKey ours) || !ours.getModulus().equals(key.getModulus())) {
            throw refused(KEY, tls.key(), "is not the key of " + CERTIFICATE + " " + tls.certificate(),
                    "name the files that were made together", null);
        }
    }

    /**
     * Returns the context of a connection that shows the certificate, and checks the other side's against the authority.
     *
     * @throws UsageException if a file cannot be read now
     */
    static SSLContext context(TlsSpec tls) {
        return context(tls, (authority, _) -> authority);
    }

    /**
     * Returns the context of a client that accepts the certificates that the control plane accepts.
     *
     * @throws UsageException if a file cannot be read now
     */
    public static SSLContext client(TlsSpec tls) {
        return context(tls, NamesInCommon::new);
    }

    /**
     * Returns the context of a server that shows the certificate and requests none. The files are read for every connection,
     * so that they can be renewed.
     */
    public static SSLContext server(TlsSpec tls) {
        return new RenewedContext(() -> context(tls));
    }

    private static SSLContext context(TlsSpec tls,
            BiFunction<X509TrustManager, X509Certificate, TrustManager> trusts) {
        try {
            KeyStore own = KeyStore.getInstance(STORE);
            KeyStore trusted = KeyStore.getInstance(STORE);
            own.load(null, null);
            trusted.load(null, null);
            X509Certificate certificate = certificate(CERTIFICATE, tls.certificate());
            own.setKeyEntry("node", key(tls.key()), NO_PASSWORD, new X509Certificate[]{certificate});
            trusted.setCertificateEntry("authority", certificate(AUTHORITY, tls.authority()));
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(own, NO_PASSWORD);
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            TrustManager[] managers = {trusts.apply((X509TrustManager) trust.getTrustManagers()[0], certificate)};
            context.init(keys.getKeyManagers(), managers, null);
            return context;
        } catch (GeneralSecurityException | IOException failure) {
            throw refused(CERTIFICATE, tls.certificate(), "cannot be used (" + failure.getMessage() + ")",
                    "see that it was made together with " + KEY + " " + tls.key(), failure);
        }
    }

    private static void requireGoodToday(String name, Path path, X509Certificate certificate) {
        try {
            certificate.checkValidity();
        } catch (CertificateExpiredException expired) {
            throw refused(name, path, "was good until " + certificate.getNotAfter().toInstant(), "renew it", expired);
        } catch (CertificateNotYetValidException early) {
            throw refused(name, path, "is good from " + certificate.getNotBefore().toInstant() + " on",
                    "see that this machine's clock is right", early);
        }
    }

    private static X509Certificate certificate(String name, Path path) {
        byte[] bytes = read(name, path);
        try {
            return (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(bytes));
        } catch (GeneralSecurityException none) {
            throw refused(name, path, "is no certificate in PEM", "name another file", none);
        }
    }

    private static RSAPrivateKey key(Path path) {
        String text = new String(read(KEY, path), StandardCharsets.ISO_8859_1);
        try {
            byte[] encoded = Base64.getMimeDecoder().decode(text.replaceAll("-----[A-Z ]+-----", ""));
            return (RSAPrivateKey) KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(encoded));
        } catch (GeneralSecurityException | IllegalArgumentException none) {
            throw refused(KEY, path, "is no RSA key in PEM as unencrypted PKCS#8",
                    "openssl pkcs8 -topk8 -nocrypt writes one", none);
        }
    }

    private static byte[] read(String name, Path path) {
        try {
            return BoundedFile.bytes(path);
        } catch (IOException unreadable) {
            throw refused(name, path, "cannot be read" + (Files.exists(path) ? "" : ", it is not there"),
                    "name another file, or have this user read it", unreadable);
        }
    }

    private static UsageException refused(String name, Path path, String what, String todo, Exception cause) {
        return new UsageException(name + ": " + path + " " + what + ": " + todo, cause);
    }
}
