package dev.troupe.port;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret of a run, by which its processes know each other. It never leaves them: what they send is a proof that a sender
 * has it. Who can read the network can send a proof again, but makes none of his own. Any thread.
 */
public final class RunKey {
    /** The length of a secret. */
    public static final int SECRET_BYTES = 32;
    /** The length of a proof. */
    public static final int PROOF_BYTES = 16;

    private static final String ALGORITHM = "HmacSHA256";

    private final SecretKeySpec secret;

    private RunKey(byte[] secret) {
        this.secret = new SecretKeySpec(secret, ALGORITHM);
    }

    /** Returns the key of a secret of {@link #SECRET_BYTES}. */
    public static RunKey of(byte[] secret) {
        if (secret.length != SECRET_BYTES) {
            throw new IllegalArgumentException("a secret has " + SECRET_BYTES + " bytes, found " + secret.length);
        }
        return new RunKey(secret);
    }

    /** Returns the key of processes that have no secret, as in a measurement, which nobody disturbs. */
    public static RunKey open() {
        return new RunKey(new byte[SECRET_BYTES]);
    }

    /**
     * Returns the proof that a sender of some bytes has the secret.
     *
     * @param purpose what the bytes are, so that a proof of one kind is none of another
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

    /** Whether a proof is right; the time it takes does not depend on the answer. */
    public boolean isProof(byte[] proof, String purpose, byte[] bytes, int length) {
        return MessageDigest.isEqual(proof, proof(purpose, bytes, length));
    }
}
