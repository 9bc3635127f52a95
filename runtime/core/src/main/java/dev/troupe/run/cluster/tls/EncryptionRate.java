package dev.troupe.run.cluster.tls;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.concurrent.TimeUnit;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** The rate at which a core of this machine encrypts as TLS does: AES-256-GCM in records of 16 KiB. */
public final class EncryptionRate {
    private static final int RECORD = 16 << 10;
    private static final int KEY_BYTES = 32;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;
    private static final int RECORDS_A_LOOK = 16;
    /** Long enough for the JVM to compile the cipher, and short compared with the start of a cluster. */
    private static final long MEASURED_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private EncryptionRate() {
    }

    /** Measures for a quarter of a second; returns the best rate in bytes per second. Keys and data are zeros. */
    public static double measure() {
        byte[] record = new byte[RECORD];
        byte[] encrypted = new byte[RECORD + TAG_BITS / Byte.SIZE];
        SecretKeySpec key = new SecretKeySpec(new byte[KEY_BYTES], "AES");
        long began = System.nanoTime();
        double best = 0;
        long number = 0;
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            for (long look = began; look - began < MEASURED_NANOS;) {
                for (int count = 0; count < RECORDS_A_LOOK; count++) {
                    byte[] nonce = ByteBuffer.allocate(NONCE_BYTES).putLong(number++).array();
                    cipher.init(Cipher.ENCRYPT_MODE, key, new GCMParameterSpec(TAG_BITS, nonce));
                    cipher.doFinal(record, 0, RECORD, encrypted);
                }
                long now = System.nanoTime();
                best = Math.max(best, RECORDS_A_LOOK * RECORD * 1e9 / (now - look));
                look = now;
            }
        } catch (GeneralSecurityException absent) {
            throw new IllegalStateException("every JDK has AES in GCM", absent);
        }
        return best;
    }
}
