package dev.troupe.config.cluster;

import java.nio.file.Path;
import java.util.Objects;

/**
 * The certificate, key and authority of a node for TLS; all PEM files. Both sides of a connection show a certificate.
 *
 * @param certificate absolute path of the node's certificate, which shares a subject or alternative name with the other
 *     nodes' certificates
 * @param key absolute path of the private key of that certificate: RSA, PKCS#8, not encrypted
 * @param authority absolute path of the certificate that has signed the certificates of all nodes
 */
public record TlsSpec(Path certificate, Path key, Path authority) {

    public TlsSpec {
        Objects.requireNonNull(certificate, "certificate");
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(authority, "authority");
    }
}
