package dev.troupe.plan.prepare;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class BuiltInCorpusTest {
    /** Losses in the documents are of this text; a checkout that changes line ends would change them too. */
    @Test
    void shouldBeTheTextThatTheDocumentsTrainOn() throws NoSuchAlgorithmException {
        byte[] utf8 = BuiltInCorpus.utf8();
        assertEquals(1_115_394, utf8.length);
        assertEquals("86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(utf8)));
    }
}
