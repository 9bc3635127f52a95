package dev.troupe.port;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret by which the processes of a run authenticate each other. It is never sent; messages carry a proof that the
 * sender has it. A reader of the network can repeat a proof, but cannot make one. Any thread.
 */
public final class RunKey {
    public static final int SECRET_BYTES = 32;
    public static final int PROOF_BYTES = 16;

    private static final String ALGORITHM = "HmacSHA256";

    private final SecretKeySpec secret;

    private RunKey(byte[] secret) {
        this.secret = new SecretKeySpec(secret, ALGORITHM);
    }

    public static RunKey of(byte[] secret) {
        if (secret.length != SECRET_BYTES) {
            throw new IllegalArgumentException("a secret has " + SECRET_BYTES + " bytes, found " + secret.length);
        }
        return new RunKey(secret);
    }

    /** Returns the key of processes without a secret, as in a measurement. */
    public static RunKey open() {
        return new RunKey(new byte[SECRET_BYTES]);
    }

    /**
     * Returns the proof that a sender of some bytes has the secret.
     *
     * @param purpose the meaning of the bytes, so that a proof is valid for one purpose only
     */
    public byte[] proof(String purpose, byte[] bytes, int length) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            mac.update(purpose.getBytes(StandardCharsets.UTF_8));
            mac.update((byte) 0);
            mac.update(bytes, 0, length);
            return Arrays.copyOf(mac.doFinal(), PROOF_BYTES);
        } catch (GeneralSecurityException absent) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, absent);
        }
    }

    /** Returns whether a proof is right, in constant time. */
    public boolean isProof(byte[] proof, String purpose, byte[] bytes, int length) {
        return MessageDigest.isEqual(proof, proof(purpose, bytes, length));
    }
}
