package dev.troupe.look.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The pieces of a text, with a tokenizer of bytes, which splits each character that is not ASCII. */
class WrittenTextTest {
    private static final Tokenizer BYTES = Tokenizer.named("bytes");

    @Test
    void shouldNeverSplitACharacter() {
        assertEquals(List.of("a", "", "é", "", "", "€", "", "", "", "😀", "b"), pieces("aé€😀b", List.of()));
    }

    @Test
    void shouldShowWhatIsNoCharacterAtTheEnd() {
        WrittenText text = new WrittenText(BYTES, List.of());
        assertEquals("", text.add(0xE2));
        assertEquals("\uFFFD", text.add('x').substring(0, 1));
        assertEquals("", text.add(0xE2));
        assertEquals("\uFFFD", text.rest());
        assertEquals("", text.rest());
    }

    @Test
    void shouldEndBeforeAStopString() {
        assertEquals(List.of("o", "", "", "ne ", "", ""), pieces("one ##end", List.of("##", "ne2")));
        WrittenText text = new WrittenText(BYTES, List.of("STOP", "OPT"));
        StringBuilder shown = new StringBuilder();
        for (byte one : "a STOPTION".getBytes(StandardCharsets.UTF_8)) {
            shown.append(text.add(one));
        }
        assertTrue(text.isStopped());
        assertEquals("a ", shown.toString());
        assertEquals("", text.rest());
    }

    /** Bytes at random, so that most are no characters; the pieces are the text of all of them. */
    @Test
    void shouldShowAllOfATextWithoutAStop() {
        Random random = new Random(5);
        for (int trial = 0; trial < 200; trial++) {
            byte[] bytes = new byte[1 + random.nextInt(40)];
            random.nextBytes(bytes);
            for (int i = 0; i < bytes.length; i++) {
                if (random.nextInt(3) == 0) {
                    bytes[i] = (byte) ('a' + random.nextInt(2));
                }
            }
            WrittenText text = new WrittenText(BYTES, List.of("ab", "ba"));
            int[] ids = new int[bytes.length];
            StringBuilder shown = new StringBuilder();
            for (int i = 0; i < ids.length; i++) {
                ids[i] = bytes[i] & 0xFF;
                shown.append(text.add(ids[i]));
            }
            shown.append(text.rest());
            String whole = BYTES.decode(ids);
            int stop = Math.min(place(whole, "ab"), place(whole, "ba"));
            assertEquals(whole.substring(0, Math.min(stop, whole.length())), shown.toString(), "trial " + trial);
            assertEquals(stop < whole.length(), text.isStopped());
        }
    }

    private static int place(String text, String stop) {
        int place = text.indexOf(stop);
        return place < 0 ? Integer.MAX_VALUE : place;
    }

    @Test
    void shouldRefuseAStopOfNothing() {
        assertThrows(IllegalArgumentException.class, () -> new WrittenText(BYTES, List.of("")));
        assertFalse(new WrittenText(BYTES, List.of()).isStopped());
    }

    private static List<String> pieces(String text, List<String> stops) {
        WrittenText written = new WrittenText(BYTES, stops);
        List<String> pieces = new ArrayList<>();
        for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
            if (!written.isStopped()) {
                pieces.add(written.add(one & 0xFF));
            }
        }
        return pieces;
    }
}
