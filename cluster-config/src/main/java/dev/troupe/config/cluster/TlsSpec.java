package dev.troupe.config.cluster;

import java.nio.file.Path;
import java.util.Objects;

/**
 * What a node shows to the others, and what it holds theirs to; all PEM files. Both sides of a connection show one.
 *
 * @param certificate absolute path of the certificate of a node, which names its host
 * @param key absolute path of the private key of that certificate, PKCS#8 and not encrypted
 * @param authority absolute path of the certificate that must have signed those of all nodes
 */
public record TlsSpec(Path certificate, Path key, Path authority) {

    /** Refuses a missing part. */
    public TlsSpec {
        Objects.requireNonNull(certificate, "certificate");
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(authority, "authority");
    }
}
