package dev.troupe.engine.random;

/**
 * Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): four random words from a counter of
 * four words and a key of two. Counters are independent, so that an engine may compute the words of many counters
 * concurrently, with the constants here.
 *
 * <p>Thread rule: one thread.
 */
public final class Philox {
    public static final int ROUNDS = 10;
    public static final long FIRST_FACTOR = 0xD2511F53L;
    public static final long SECOND_FACTOR = 0xCD9E8D57L;
    public static final int FIRST_WEYL = 0x9E3779B9;
    public static final int SECOND_WEYL = 0xBB67AE85;

    private final int firstKey;
    private final int secondKey;
    private int word0;
    private int word1;
    private int word2;
    private int word3;

    /** A generator with this key, its low word first. */
    public Philox(long key) {
        this.firstKey = (int) key;
        this.secondKey = (int) (key >>> 32);
    }

    public void generate(int counter0, int counter1, int counter2, int counter3) {
        int c0 = counter0;
        int c1 = counter1;
        int c2 = counter2;
        int c3 = counter3;
        int k0 = firstKey;
        int k1 = secondKey;
        for (int round = 0; round < ROUNDS; round++) {
            long first = FIRST_FACTOR * (c0 & 0xFFFFFFFFL);
            long second = SECOND_FACTOR * (c2 & 0xFFFFFFFFL);
            c0 = (int) (second >>> 32) ^ c1 ^ k0;
            c1 = (int) second;
            c2 = (int) (first >>> 32) ^ c3 ^ k1;
            c3 = (int) first;
            k0 += FIRST_WEYL;
            k1 += SECOND_WEYL;
        }
        word0 = c0;
        word1 = c1;
        word2 = c2;
        word3 = c3;
    }

    /** One of the four words that were made last, 0 to 3. */
    public int word(int index) {
        return switch (index) {
            case 0 -> word0;
            case 1 -> word1;
            case 2 -> word2;
            default -> word3;
        };
    }
}
